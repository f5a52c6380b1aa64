"""The parts of `lower-loops`: nests, schedules and the emission of ops."""
