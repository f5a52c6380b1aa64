"""The parts of `lower-loops`: linear forms, nests, schedules and the emission of ops."""
