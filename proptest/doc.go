// Package proptest holds a protocol and the code that was generated from it to what the specification
// says, in a test of the program that uses them:
//
//	func TestTrade(t *testing.T) {
//		proptest.Verify(t, "../../trade/spec.yaml", trade.NewBuyerRunner, trade.NewSellerRunner)
//	}
//
// `fsmgen generate --tests` writes such a test. It needs no adapter: what makes a machine's runner is
// all that it is given. It knows no protocol; the packages below it do the work. Start from [Verify].
package proptest
