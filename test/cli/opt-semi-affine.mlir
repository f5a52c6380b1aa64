// RUN: not uir-opt %s 2>&1 | filecheck %s

// CHECK-NOT: internal error
// CHECK:     opt-semi-affine.mlir: error: Mod with non-constant (semi-affine) is not supported yet
func.func private @k(%a: memref<?xf32>) attributes {map = affine_map<(d0) -> (d0 mod d0)>} {
  func.return
}
