import { isAscii } from './ascii.ts';

/** ISO 639-1, or `und` where nothing tells. */
export type Language =
  | 'en'
  | 'de'
  | 'fr'
  | 'es'
  | 'pt'
  | 'it'
  | 'nl'
  | 'pl'
  | 'tr'
  | 'vi'
  | 'ru'
  | 'zh'
  | 'ja'
  | 'ko'
  | 'ar'
  | 'und';

/**
 * True when a person's words hold something back: "maybe", "vielleicht", "可能". It is a flag on evidence and decides
 * nothing about what is kept; consolidation may not turn such words into a rule. Reads the first 4,000 characters.
 */
export function isHedged(text: string): boolean {
  return isHedgedIn(text, languageOf(text));
}

/** The same for a text whose language is known from what stands around it; `und` is read as English. */
export function isHedgedIn(text: string, language: Language): boolean {
  const head = text.slice(0, maxRead).toLowerCase();
  if (language === 'zh' || language === 'ja' || language === 'ko') return patternOf(language, '').test(head);
  const between = isAscii(head) ? /[^a-z0-9']+/g : /[^\p{L}\p{M}\p{N}']+/gu;
  const spaced = ` ${head.replace(between, ' ')} `;
  return patternOf(language === 'und' ? 'en' : language, ' ').test(spaced);
}

/**
 * Whether there is a list of hedges for a text's language. Of a language in Latin letters that is none of ours only a
 * longer text can tell; one that borrows small words of ours is taken for ours.
 */
export function hasHedges(text: string): boolean {
  if (languageOf(text) !== 'und') return true;
  const head = text.slice(0, maxRead);
  const words = count(head, /[\p{L}\p{M}]+/gu);
  return words === 0 || (count(head, /\p{Script=Latin}/gu) * 2 > count(head, /\p{L}/gu) && words < 12);
}

/** A guess by script, and for Latin letters by the most frequent small words. Reads the first 4,000 characters. */
export function languageOf(text: string): Language {
  const head = text.slice(0, maxRead);
  if (!/\p{L}/u.test(head)) return 'und';
  if (!ownScripts.test(head)) return latinLanguage(head.toLowerCase());
  const letters = count(head, /\p{L}/gu);
  if (count(head, /[\u3040-\u30ff]/g) * 10 > letters) return 'ja';
  if (count(head, /[\uac00-\ud7af]/g) * 5 > letters) return 'ko';
  if (count(head, /[\u4e00-\u9fff]/g) * 5 > letters) return 'zh';
  if (count(head, /[\u0600-\u06ff]/g) * 3 > letters) return 'ar';
  if (count(head, /[\u0400-\u04ff]/g) * 3 > letters) return 'ru';
  return latinLanguage(head.toLowerCase());
}

const maxRead = 4_000;

/** Any character by which a script is told below. */
const ownScripts = /[\u0400-\u04ff\u0600-\u06ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/;

const hedges: Readonly<Record<Exclude<Language, 'und'>, readonly string[]>> = {
  en: phrases(
    'maybe|perhaps|possibly|probably|might|could be|may be|i think|i guess|i suppose|i believe|i assume|i wonder|not sure|unsure|not certain|not convinced|seems|seem|appears to|apparently|presumably|supposedly|as far as i know|afaik|iirc|kind of|sort of|for now|for the moment|this time|just this once|experiment|if possible|tentatively|roughly',
  ),
  de: phrases(
    'vielleicht|eventuell|möglicherweise|wahrscheinlich|vermutlich|womöglich|könnte|könnten|dürfte|scheint|anscheinend|offenbar|angeblich|ich glaube|glaube ich|ich denke|denke ich|ich vermute|nicht sicher|unsicher|soweit ich weiß|vorerst|erstmal|fürs erste|diesmal|ausnahmsweise|ungefähr|evtl|wohl',
  ),
  fr: phrases(
    "peut être|probablement|sans doute|éventuellement|possiblement|pourrait|pourraient|semble|semblerait|apparemment|je pense|je crois|je suppose|pas sûr|pas sûre|pas certain|à ma connaissance|pour l'instant|pour le moment|cette fois|si possible|environ",
  ),
  es: phrases(
    'quizá|quizás|tal vez|a lo mejor|probablemente|posiblemente|podría|podrían|puede que|parece|parecería|aparentemente|creo que|creo|pienso que|supongo|no estoy seguro|no estoy segura|que yo sepa|por ahora|de momento|por el momento|esta vez|si es posible',
  ),
  pt: phrases(
    'talvez|provavelmente|possivelmente|poderia|poderiam|pode ser|parece|aparentemente|acho que|acho|creio que|suponho|não tenho certeza|que eu saiba|por enquanto|por agora|desta vez|dessa vez|se possível',
  ),
  it: phrases(
    'forse|magari|probabilmente|possibilmente|potrebbe|potrebbero|può darsi|sembra|sembrerebbe|apparentemente|penso che|credo|credo che|suppongo|non sono sicuro|non sono sicura|per quanto ne so|per ora|per adesso|stavolta|questa volta|se possibile',
  ),
  nl: phrases(
    'misschien|wellicht|mogelijk|waarschijnlijk|vermoedelijk|zou kunnen|lijkt|blijkbaar|schijnbaar|ik denk|denk ik|ik geloof|ik vermoed|niet zeker|voor zover ik weet|voorlopig|voor nu|deze keer|indien mogelijk',
  ),
  pl: phrases(
    'może|być może|chyba|prawdopodobnie|możliwe|mógłby|mogłoby|wydaje się|podobno|myślę|sądzę|przypuszczam|nie jestem pewien|nie jestem pewna|o ile wiem|na razie|tym razem|jeśli to możliwe',
  ),
  tr: phrases(
    'belki|muhtemelen|galiba|sanırım|herhalde|olabilir|gibi görünüyor|görünüşe göre|bence|emin değilim|bildiğim kadarıyla|şimdilik|bu seferlik|mümkünse',
  ),
  vi: phrases(
    'có lẽ|có thể|chắc là|hình như|dường như|có vẻ|tôi nghĩ|tôi đoán|không chắc|theo tôi biết|tạm thời|lần này|nếu được',
  ),
  ru: phrases(
    'может|может быть|возможно|наверное|наверно|вероятно|пожалуй|похоже|кажется|вроде|видимо|думаю|я думаю|полагаю|предполагаю|не уверен|не уверена|насколько я знаю|пока что|на этот раз|если можно',
  ),
  zh: phrases(
    '可能|也许|也許|或许|或許|大概|应该是|應該是|似乎|好像|看起来|看起來|估计|估計|我觉得|我覺得|我想|我猜|不确定|不確定|不太清楚|据我所知|據我所知|暂时|暫時|这次先|這次先|先这样|尽量',
  ),
  ja: phrases(
    'かもしれ|たぶん|多分|おそらく|恐らく|と思う|と思います|だろう|でしょう|らしい|ようだ|ようです|みたい|気がする|わからない|分からない|とりあえず|今回だけ|今回は|一旦|できれば|かな',
  ),
  ko: phrases(
    '아마|어쩌면|것 같|듯하|듯해|듯 합|보인다|보입니다|생각합니다|생각해|추측|확실하지 않|잘 모르|일단|이번에는|이번만|가능하면|당분간',
  ),
  ar: phrases(
    'ربما|قد|لعل|يمكن أن|من الممكن|من المحتمل|محتمل|يبدو|يبدو أن|أظن|أعتقد|أعتقد أن|لست متأكدا|لست متأكدًا|لست متأكدة|غير متأكد|على حد علمي|حاليا|حاليًا|مؤقتا|مؤقتًا|هذه المرة|تقريبا|تقريبًا|ان أمكن|إن أمكن',
  ),
};

const patterns = new Map<Language, RegExp>();

/** Any of them, with what stands around it: made once, and one look at a text instead of one for each. */
function patternOf(language: keyof typeof hedges, around: '' | ' '): RegExp {
  const known = patterns.get(language) ?? new RegExp(`${around}(?:${hedges[language].join('|')})${around}`);
  patterns.set(language, known);
  return known;
}

const smallWords: Readonly<
  Record<'en' | 'de' | 'fr' | 'es' | 'pt' | 'it' | 'nl' | 'pl' | 'tr' | 'vi', ReadonlySet<string>>
> = {
  en: wordSet(
    'the and is it to of in that for not with this on you are be we should have use do but from can will please an as or don just i',
  ),
  de: wordSet(
    'der die das und ist nicht ein eine einen zu mit auf für den dem des wir ich es bitte auch im von sind keine kein aber noch wie nur bei oder',
  ),
  fr: wordSet(
    'le la les et est pas un une des de du dans pour que qui sur avec ne nous je il au aux ce cette sont plus mais ou on vous tu se vers sans peut être',
  ),
  es: wordSet('el la los las y es no un una de del en para que con por se lo al como pero usa este esta son más hay'),
  pt: wordSet('o a os as e é não um uma de do da em para que com por se no na dos das mas como este esta são mais'),
  it: wordSet('il lo la gli le e è non un una di del della in per che con si nel al come ma questo questa sono più'),
  nl: wordSet('de het een en is niet van in op te dat voor met we ik die ook maar zijn er naar geen aan dit deze'),
  pl: wordSet('i w nie na się z do to jest że jak ale o po tylko już ten ta te dla są czy proszę'),
  tr: wordSet('bir ve bu için de da ile değil mi ne gibi çok var yok ama daha olarak sonra kadar'),
  vi: wordSet('và là của không có được cho các này một trong khi với thì đã để dùng những hãy cần'),
};

const latin = Object.keys(smallWords) as readonly (keyof typeof smallWords)[];

/** The languages, by their place in `latin`, that have a small word. */
const latinOf = new Map<string, number[]>();
for (const [index, language] of latin.entries())
  for (const word of smallWords[language]) latinOf.set(word, [...(latinOf.get(word) ?? []), index]);

function latinLanguage(head: string): Language {
  const scores = new Array<number>(latin.length).fill(0);
  for (const word of head.match(isAscii(head) ? /[a-z]+/g : /[\p{L}\p{M}]+/gu) ?? [])
    for (const index of latinOf.get(word) ?? []) scores[index] = (scores[index] ?? 0) + 1;
  const most = Math.max(...scores);
  return most === 0 ? 'und' : (latin[scores.indexOf(most)] ?? 'und');
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function phrases(list: string): readonly string[] {
  return list.split('|');
}

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
