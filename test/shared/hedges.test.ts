import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHedged, type Language, languageOf } from '../../scripts/shared/hedges.ts';

const samples: readonly (readonly [Language, string, string])[] = [
  ['en', 'Maybe we should use tabs in this file.', 'We always use tabs in this file.'],
  ['de', 'Vielleicht sollten wir hier die Tabs nehmen.', 'Wir nehmen hier immer die Tabs und nicht Leerzeichen.'],
  [
    'fr',
    'On devrait peut-être utiliser des tabulations dans ce fichier.',
    'Nous utilisons les tabulations dans ce fichier.',
  ],
  ['es', 'Quizás es mejor usar los tabuladores en el archivo.', 'Usa siempre los tabuladores en el archivo.'],
  ['pt', 'Talvez seja melhor não usar uma tabulação no arquivo.', 'Não use espaços, use uma tabulação no arquivo.'],
  ['it', 'Forse è meglio usare le tabulazioni nel file.', 'Usa sempre le tabulazioni nel file e non gli spazi.'],
  ['nl', 'Misschien is het beter om de tabs te gebruiken.', 'Gebruik de tabs en geen spaties in dit bestand.'],
  ['pl', 'Chyba nie jest to dobre, ale się zobaczy.', 'Nie używaj spacji, tylko tabulatorów, i to jest ważne.'],
  ['tr', 'Belki bu dosya için daha iyi bir yol var.', 'Bu dosya için bir sekme kullan ve boşluk yok.'],
  ['vi', 'Có lẽ không nên dùng các dấu cách trong tệp này.', 'Hãy dùng các tab và không dùng dấu cách trong tệp này.'],
  ['ru', 'Возможно, лучше использовать табуляцию.', 'Всегда используй табуляцию в этом файле.'],
  ['zh', '可能应该用制表符。', '这里必须用制表符。'],
  ['ja', 'タブを使うべきかもしれません。', 'ここでは必ずタブを使ってください。'],
  ['ko', '아마 탭을 쓰는 것이 좋겠습니다.', '여기서는 항상 탭을 사용하세요.'],
  ['ar', 'ربما نستخدم علامات الجدولة هنا.', 'استخدم علامات الجدولة هنا دائما.'],
];

for (const [language, hedged, plain] of samples)
  test(`${language}: what is held back is told from what is said plainly`, () => {
    assert.equal(isHedged(hedged), true);
    assert.equal(isHedged(plain), false);
    assert.equal(languageOf(plain), language);
  });

test('a hedge is a word, not a part of one, and no word of another language', () => {
  assert.equal(isHedged('The mighty maybell is on the chart of the team.'), false);
  assert.equal(isHedged('We keep the wohl module and the may-day flag is off.'), false);
});

test('what has no letters has no language and holds nothing back', () => {
  assert.equal(languageOf('429 => {}'), 'und');
  assert.equal(isHedged('429'), false);
  assert.equal(isHedged(''), false);
});
