import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { seeded } from '../../scripts/bench/statistics.ts';
import { tokensAtMost } from '../../scripts/recall/tokens-at-most.ts';
import { countTokens } from '../../scripts/shared/tokens.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const languages = {
  English: 'When the tests fail with a stale lock file, install again and commit it; never edit it by hand. ',
  German: 'Vor dem Veröffentlichen prüfen, ob die Übersetzungen vollständig sind; Größenangaben gehören in Megabyte. ',
  French: 'Quand les tests échouent, relancer la base de données à l’aide de docker, puis vérifier « l’état ». ',
  Turkish: 'Testleri çalıştırmadan önce veritabanını başlatın; değişiklikleri gözden geçirmeden göndermeyin. ',
  Polish: 'Przed uruchomieniem testów należy włączyć bazę danych; nie używać npm, tylko pnpm. Źródła są w źródłach. ',
  Vietnamese: 'Trước khi chạy kiểm thử hãy khởi động cơ sở dữ liệu; luôn dùng pnpm thay vì npm. ',
  Russian: 'При запуске тестов всегда используйте pnpm, а не npm; базу данных нужно запустить заранее. ',
  Greek: 'Πριν από τις δοκιμές ξεκινήστε τη βάση δεδομένων και μην επεξεργάζεστε το αρχείο κλειδώματος. ',
  Hebrew: 'לפני הרצת הבדיקות יש להפעיל את מסד הנתונים ולא לערוך את קובץ הנעילה ידנית. ',
  Arabic: 'عند تشغيل الاختبارات استخدم دائما pnpm ولا تستخدم npm ويجب تشغيل قاعدة البيانات مسبقا. ',
  Hindi: 'परीक्षण चलाते समय हमेशा pnpm का उपयोग करें; डेटाबेस को पहले से शुरू करना होगा। ',
  Thai: 'เมื่อรันการทดสอบให้ใช้ pnpm เสมอ และต้องเริ่มฐานข้อมูลก่อนทุกครั้ง ',
  Chinese: '运行测试时始终使用 pnpm，不要使用 npm；必须先启动数据库，然后再执行迁移脚本。繁體中文：請先檢查設定檔。',
  Japanese: 'テストを実行するときは必ず pnpm を使い、データベースは事前に起動しておく必要があります。確認は不要。',
  Korean: '테스트를 실행할 때는 항상 pnpm을 사용하고 데이터베이스는 미리 시작해야 합니다. ',
  emoji: '🚀🧪✅ 👩‍💻👨‍👩‍👧‍👦🏳️‍🌈❤️‍🔥 🇩🇪🇫🇷 👍🏽 🫠🥲 ☂️⚠️ → ↔ ✓ ✗ ',
  boxes: '├── src\n│   └── index.ts ─── “quoted” … — ‘x’ ≤ 5 × 3 ≠ 4\n',
  evidence: '- `ERR_X` -> run `make -j8` [k3f9x2ab@88,91] [abcdefg2@3:4.2] (MEMORY.md:120-134; in packages/api)\n',
} as const;

for (const [name, text] of Object.entries(languages)) {
  test(`no ${name} text has more tokens than its bound`, () => {
    const long = text.repeat(20);
    assert.ok(countTokens(long) <= tokensAtMost(long), `${countTokens(long)} of ${tokensAtMost(long)}`);
    assert.ok(tokensAtMost(long) <= countTokens(long) * 4.5, 'the bound is useless');
  });
}

test('no prose or code of this project has more tokens than its bound, which stays below twice their number', () => {
  let [bound, exact] = [0, 0];
  for (const folder of ['prompts', 'scripts/workspace', 'scripts/git', 'test/workspace'])
    for (const name of readdirSync(join(root, folder))) {
      const text = readFileSync(join(root, folder, name), 'utf8').slice(0, 9_500);
      assert.ok(countTokens(text) <= tokensAtMost(text), `${folder}/${name}`);
      bound += tokensAtMost(text);
      exact += countTokens(text);
    }
  assert.ok(bound < 2 * exact);
});

test('no string drawn by lot has more tokens than its bound: letters, hex, base64, punctuation, white space', () => {
  const draw = seeded(7);
  const alphabets = [
    'abcdefghijklmnopqrstuvwxyz',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    '0123456789',
    '0123456789abcdef',
    'abcdefghijklmnopqrstuvwxyz234567',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
    '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    ' \t\n',
    'abcdefgh .,-/',
    'áéíóúñßøæåçğşıłżźăđ',
    'ẰẢ̃́̀ܐߊᠠ𒀀𠀀',
  ];
  for (const letters of alphabets.map((text) => [...text])) {
    const text = Array.from({ length: 3_000 }, () => letters[Math.floor(draw() * letters.length)]).join('');
    assert.ok(
      countTokens(text) <= tokensAtMost(text),
      `${letters.join('')}: ${countTokens(text)} of ${tokensAtMost(text)}`,
    );
  }
});

test('the bounds of two parts add up to the whole’s, or more', () => {
  for (const text of Object.values(languages))
    for (let at = 0; at <= text.length; at += 7)
      assert.ok(tokensAtMost(text.slice(0, at)) + tokensAtMost(text.slice(at)) >= tokensAtMost(text));
});
