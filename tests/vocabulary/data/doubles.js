// Writes doubles.tsv: the bits of hard doubles and what ECMAScript's String makes of them.
// Run once: node tests/vocabulary/data/doubles.js > tests/vocabulary/data/doubles.tsv
const view = new DataView(new ArrayBuffer(8));
const seen = new Map();
function add(number) {
  if (!Number.isFinite(number)) return;
  for (const one of [number, -number]) {
    view.setFloat64(0, one);
    seen.set(view.getBigUint64(0).toString(16).padStart(16, "0"), String(one));
  }
}
function neighbours(number) {
  add(number);
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  for (const step of [-1n, 1n]) {
    if (bits + step < 0n) continue;
    view.setBigUint64(0, bits + step);
    add(view.getFloat64(0));
  }
}
[0, 1, 10, 100, 2.5, 2.8, 0.1, 0.2, 0.3, 0.1 + 0.2, 1 / 3, 2 / 3, 9.5, 123456.789].forEach(neighbours);
[5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 4.35, 0.000001, 0.0000001, 1.0000000000000002].forEach(neighbours);
[9007199254740991, 9007199254740992, 9007199254740993, 4503599627370496.5, 2 ** 63, 2 ** 64].forEach(neighbours);
[1.2345678901234568e20, 123456789012345680000, 5e-7, 1.5e-6, 9.999999999999999e22, 1e23, 2 ** -1074 * 3].forEach(neighbours);
for (let power = -25; power <= 25; power++) neighbours(Number("1e" + power));
for (let power = -320; power <= 308; power += 12) neighbours(Number("1e" + power));
for (let power = -1074; power <= 1023; power += 41) neighbours(2 ** power);
for (let digits = 1; digits <= 22; digits++) neighbours(Number("9".repeat(digits)));
let state = 0x9e3779b97f4a7c15n;
for (let count = 0; count < 120; count++) {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  view.setBigUint64(0, state);
  add(view.getFloat64(0));
}
for (const [bits, text] of [...seen].sort()) console.log(bits + "\t" + text);
