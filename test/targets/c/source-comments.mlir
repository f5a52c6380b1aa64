// RUN: uir-opt %s -t c | filecheck %s

// A line of the source cannot go on into the C after it.
// CHECK:      // %3 = matmul %1 %2
// CHECK-NEXT: //
// CHECK-NEXT: // ends in \.
// CHECK-NEXT: // ends in ??/.
// CHECK-NEXT: void kernel(
func.func @kernel() attributes {"uir.source" = "%3 = matmul %1 %2\n\nends in \\  \nends in ??/"} {
  func.return
}
