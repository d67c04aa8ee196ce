/**
 * A bound from above of a text's o200k_base tokens that needs no tokenizer, since a session waits for it: mostly 1.3 to 1.9 times
 * the exact count on prose, code and Markdown, never below it on text of the languages, emoji and random strings that its
 * test holds against the real one. Text that nobody writes, such as ideographs drawn by lot, may have half as many more.
 * Parts' bounds add up to the whole's, or more.
 */
export function tokensAtMost(text: string): number {
  // A sum of whole numbers takes no memory, one of fractions so much that it would have to be collected.
  let cost = 0;
  let before: Kind = kinds.space;
  let last = 0x0a;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 0x80 ? (kindOf[code] ?? kinds.mark) : kinds.mark;
    // Mostly a letter after a letter, where a call would take longer than all the rest.
    if (kind === kinds.lower && before === kinds.lower)
      cost += (pairCosts.charCodeAt((last - 97) * 26 + code - 97) - 48) * 105;
    else if (code >= 0x80) cost += wideCost(code);
    else cost += kind === before ? costWithin(kind, code, last) : costAtStart(kind, code, before);
    before = kind;
    last = code;
  }
  return Math.ceil(cost / 1_000);
}

/** Of an ASCII character that begins a run of its kind, and with it a token; in thousandths, as all costs. */
function costAtStart(kind: Kind, code: number, before: Kind): number {
  if (kind === kinds.space) return code === 0x20 ? 150 : 600;
  return kind === kinds.lower && before === kinds.upper ? 550 : 1_000;
}

/** Of one that goes on a run: a part of a token. */
function costWithin(kind: Kind, code: number, last: number): number {
  if (kind === kinds.space) return code === last ? 100 : 500;
  return kind === kinds.mark ? 720 : kind === kinds.upper ? 600 : 350;
}

const kinds = { mark: 0, lower: 1, upper: 2, digit: 3, space: 4 } as const;

type Kind = (typeof kinds)[keyof typeof kinds];

/** Of every ASCII character, so that a session does not wait for comparisons. */
const kindOf: readonly Kind[] = Array.from({ length: 0x80 }, (_, code) => {
  if (code >= 97 && code <= 122) return kinds.lower;
  if (code >= 65 && code <= 90) return kinds.upper;
  if (code >= 48 && code <= 57) return kinds.digit;
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) ? kinds.space : kinds.mark;
});

/**
 * Tenths of a token that a letter adds after another, `aa`, `ab` … `zz`: fitted to the tokenizer's own counts of some nine
 * thousand words of documentation and five thousand random ones, too few counting four times as much as too many.
 */
const pairCosts =
  '74127416244120927101435605266517550381770971370685162947278017109609707217772636851758059678097528499644' +
  '77416434454330744212728039366723560662570971751386465998387415856667917936974716861879369887198294479948' +
  '55533308884130449331959765489949857676784968675989494979277545766459986758896838951889288189079856379919' +
  '06940857186655144558469757275317173549751786333495379456954763634134623206478906760775354047144034398537' +
  '99999996899979975697199969366406573946551775545888482748098007544714753016850818862880156689168136277617' +
  '63534539596220637211989734076706850757880687595678560765063116666208934965452589564797369979669984889638' +
  '7997699788869779998999995847875847396566699687499845';

/** Of one UTF-16 unit beyond ASCII: measured where people write in it, else its bytes, which no token can be shorter than. */
function wideCost(code: number): number {
  if (code >= 0xd83c && code <= 0xd83e) return 1_400;
  if (code >= 0xd800 && code <= 0xdfff) return code >= 0xdc00 ? 1_200 : 2_800;
  for (let index = 0; index < scripts.length; index += 1) {
    const script = scripts[index];
    if (script !== undefined && code >= script.from && code <= script.to) return script.cost;
  }
  return code < 0x800 ? 2_000 : 3_000;
}

const scripts: readonly { readonly from: number; readonly to: number; readonly cost: number }[] = [
  { from: 0x00a0, to: 0x00ff, cost: 1_100 },
  { from: 0x0391, to: 0x03c9, cost: 1_000 },
  { from: 0x0400, to: 0x045f, cost: 1_000 },
  { from: 0x05d0, to: 0x05ea, cost: 1_000 },
  { from: 0x0620, to: 0x064a, cost: 1_100 },
  { from: 0x0900, to: 0x097f, cost: 1_400 },
  { from: 0x0e00, to: 0x0e7f, cost: 1_300 },
  { from: 0x2010, to: 0x203a, cost: 1_500 },
  { from: 0x3000, to: 0x30ff, cost: 1_300 },
  { from: 0x4e00, to: 0x9fff, cost: 1_300 },
  { from: 0xac00, to: 0xd7a3, cost: 1_500 },
  { from: 0xff01, to: 0xff5e, cost: 1_600 },
];
