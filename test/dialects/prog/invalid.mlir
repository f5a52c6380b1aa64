// RUN: uir-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: a memory is passed twice
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a, %a : memref<?xf32>, memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: an extent is less than 1
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [0]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: expected 1 accesses in `reads`, found 2
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>, #prog.access<0, affine_map<(d0) -> (d0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: `reads` 0: memory 1 of 1
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<1, affine_map<(d0) -> (d0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: `reads` 0: expected a map over 1 dimensions and at most 0 symbols, found 1 and 1
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0)[s0] -> (d0 + s0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: `reads` 0: expected a map over 1 dimensions and at most 0 symbols, found 2 and 0
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0, d1) -> (d0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: `reads` 0: expected a memory of f32, found one of i32
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%b, %a : memref<?xi32>, memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>] writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: `writes` 0: a write has no condition
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<0, affine_map<(d0) -> (d0)>, affine_set<(d0) : (d0 - 1 >= 0)>>]
  func.return
}

// -----

// CHECK: expected 1 monoids, found 0
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [] reduction [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>] writes [#prog.access<0, affine_map<() -> (0)>>]
  func.return
}

// -----

// CHECK: an epilogue without a reduction
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>] epilogue #prog.program<(f32) {v0 = in 0} -> (v0)> writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: the first operands of `epilogue` are not the accumulators
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [] reduction [4]
    monoids [#prog.monoid<sum>] body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    epilogue #prog.program<(i32) {v0 = in 0} -> (v0)>
    writes [#prog.access<0, affine_map<() -> (0)>>]
  func.return
}

// -----

// CHECK: `body`: node 0: axis 1 of 1
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%b : memref<?xi32>) shape [4]
    body #prog.program<() {v0 = coord 1, v1 = cast v0 : i32} -> (v1)> writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: monoid `sum` does not take i1
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  prog.loop (%a : memref<?xf32>) shape [] reduction [4]
    monoids [#prog.monoid<sum>]
    body #prog.program<() {v0 = const true : i1} -> (v0)>
    writes [#prog.access<0, affine_map<() -> (0)>>]
  func.return
}

// -----

// CHECK: expected a flat memory of a dtype, found memref<4xf32>
func.func private @k(%a: memref<?xf32>, %b: memref<?xi32>) {
  %m = memref.alloca() : memref<4xf32>
  prog.loop (%m : memref<4xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: expected a flat memory of a dtype, found memref<?xindex>
func.func private @k(%a: memref<?xindex>) {
  prog.loop (%a : memref<?xindex>) shape [4]
    body #prog.program<() {v0 = const 1 : i64} -> (v0)> writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: `reads` 0: expected divisors that are positive constants
func.func private @k(%a: memref<?xf32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0 floordiv 0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// -----

// CHECK: `writes` 0: expected divisors that are positive constants
func.func private @k(%a: memref<?xf32>) {
  prog.loop (%a : memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)> reads [#prog.access<0, affine_map<(d0) -> (d0)>>] writes [#prog.access<0, affine_map<(d0) -> (d0 mod 0)>>]
  func.return
}
