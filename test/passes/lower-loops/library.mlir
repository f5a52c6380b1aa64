// RUN: uir-opt %s --lower-loops | filecheck %s
// RUN: uir-opt %s --lower-loops | uir-opt - --print-op-generic | uir-opt - | filecheck %s

// A kind that arith lacks is a call of the library; elements of narrow dtypes are passed as such.
// CHECK-LABEL: func.func private @kinds
// CHECK:         %[[X:.*]] = memref.load %{{.*}} : memref<?xf16>
// CHECK:         %[[Y:.*]] = memref.load %{{.*}} : memref<?xui8>
// CHECK:         %[[E:.*]] = func.call @nx_exp_f16(%[[X]]) : (f16) -> f16
// CHECK:         %[[F:.*]] = func.call @nx_cast_u8_f16(%[[Y]]) : (ui8) -> f16
// CHECK:         %[[S:.*]] = func.call @nx_fma_f16(%[[E]], %[[F]], %[[X]]) : (f16, f16, f16) -> f16
// CHECK:         %[[C:.*]] = func.call @nx_less_f16(%[[S]], %[[X]]) : (f16, f16) -> i1
// CHECK:         arith.select %[[C]], %[[S]], %[[X]] : f16
func.func private @kinds(%a: memref<?xf16>, %b: memref<?xui8>) {
  prog.loop (%a, %b : memref<?xf16>, memref<?xui8>) shape [8]
    body #prog.program<(f16, ui8) {v0 = in 0, v1 = in 1, v2 = exp v0 : f16, v3 = cast v1 : f16, v4 = fma v2 v3 v0, v5 = less v4 v0, v6 = where v5 v4 v0} -> (v6)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>, #prog.access<1, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// Constants that no attribute can hold are bits; complex ones have two parts.
// CHECK-LABEL: func.func private @constants
// CHECK:         %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK-NEXT:    arith.bitcast %[[SEVEN]] : i32 to ui32
// CHECK:         %[[NAN:.*]] = arith.constant 2139095075 : i32
// CHECK-NEXT:    arith.bitcast %[[NAN]] : i32 to f32
// CHECK:         %[[INF:.*]] = arith.constant 124 : i8
// CHECK-NEXT:    arith.bitcast %[[INF]] : i8 to f8E5M2
// CHECK:         %[[RE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:    %[[IM:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    complex.create %[[RE]], %[[IM]] : complex<f32>
func.func private @constants(%a: memref<?xui32>, %b: memref<?xf32>, %c: memref<?xf8E5M2>, %d: memref<?xcomplex<f32>>) {
  prog.loop (%a, %b, %c, %d : memref<?xui32>, memref<?xf32>, memref<?xf8E5M2>, memref<?xcomplex<f32>>) shape [8]
    body #prog.program<() {v0 = const 7 : ui32, v1 = const bits 0x7F800023 : f32, v2 = const bits 0x7C : f8E5M2, v3 = const bits 0x3F80000080000000 : c64} -> (v0, v1, v2, v3)>
    writes [#prog.access<0, affine_map<(d0) -> (d0)>>, #prog.access<1, affine_map<(d0) -> (d0)>>, #prog.access<2, affine_map<(d0) -> (d0)>>, #prog.access<3, affine_map<(d0) -> (d0)>>]
  func.return
}

// A boolean whose byte is read is kept as the byte.
// CHECK-LABEL: func.func private @byte
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[B:.*]] = func.call @nx_bitcast_i8_u8(%[[X]]) : (i8) -> ui8
// CHECK:         func.call @nx_bitcast_u8_f8e5m2(%[[B]]) : (ui8) -> f8E5M2
func.func private @byte(%a: memref<?xi8>, %b: memref<?xf8E5M2>) {
  prog.loop (%a, %b : memref<?xi8>, memref<?xf8E5M2>) shape [8]
    body #prog.program<(i8) {v0 = in 0, v1 = bitcast v0 : i1, v2 = bitcast v1 : f8E5M2} -> (v2)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// The functions are declared once each, in the order of their names.
// CHECK:         func.func private @nx_bitcast_i8_u8(i8) -> ui8
// CHECK-NEXT:    func.func private @nx_bitcast_u8_f8e5m2(ui8) -> f8E5M2
// CHECK-NEXT:    func.func private @nx_cast_u8_f16(ui8) -> f16
// CHECK-NEXT:    func.func private @nx_exp_f16(f16) -> f16
// CHECK-NEXT:    func.func private @nx_fma_f16(f16, f16, f16) -> f16
// CHECK-NEXT:    func.func private @nx_less_f16(f16, f16) -> i1
// CHECK-NEXT:  }
