import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRepository } from '../../scripts/git/open.ts';
import { createEngine } from '../../scripts/nightly/compose.ts';
import { playNight } from '../../scripts/nightly/night.ts';
import { nightPolicy } from '../../scripts/nightly/policy.ts';
import { loadStart } from '../../scripts/nightly/start.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import { fixedClock, parseIsoTime } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import type { Files } from '../../scripts/shared/files.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { type CodexSession, codexText, uuid } from './codex-session.ts';
import { recordedSources, theNight } from './nights.ts';
import { git, env as gitEnv, writeFiles } from './repository.ts';
import { samples } from './sessions.ts';

/** Sessions in other languages than the recorded ones. */
const written: readonly CodexSession[] = [
  {
    id: uuid(901),
    remote: 'https://git.example.test/acme/berichte.git',
    events: [
      { human: 'Der Import der Kundendaten bricht ab, bitte reparieren.' },
      {
        run: 'python3 importe/kunden.py',
        exit: 1,
        out: "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xfc in position 7: invalid start byte\n",
      },
      { edit: ['importe/kunden.py'] },
      {
        human:
          'Nein, bitte keine neuen Pakete: importe/kunden.py läuft auf einem Rechner ohne Internet. Nimm nur die Standardbibliothek.',
      },
      { edit: ['importe/kunden.py'] },
      { run: 'python3 importe/kunden.py', out: '214 Zeilen gelesen\n' },
    ],
  },
  {
    id: uuid(902),
    remote: 'https://git.example.test/acme/berichte.git',
    at: '2026-11-29T12:00:00Z',
    events: [
      { human: 'Schreibe den Export für die Buchhaltung.' },
      { edit: ['exporte/csv.py'] },
      { run: 'python3 -m unittest -q', exit: 1, out: 'FAIL: test_spalten\n' },
      {
        human:
          'Die Felder in exporte/csv.py immer mit Semikolon trennen, nie mit Komma, sonst liest das Programm der Buchhaltung sie falsch.',
      },
      { edit: ['exporte/csv.py'] },
      { run: 'python3 -m unittest -q', out: 'OK\n' },
    ],
  },
  {
    id: uuid(903),
    remote: 'https://git.example.test/acme/zhifu.git',
    events: [
      { human: '订单表的时间不对，请修复 db/orders.py。' },
      { edit: ['db/orders.py'] },
      { run: 'pytest tests/test_orders.py', exit: 1, out: 'AssertionError: 8 != 0\n' },
      { human: '不对，db/orders.py 里的时间统一使用 UTC 存储，只在显示的时候转换成本地时区。' },
      { edit: ['db/orders.py'] },
      { run: 'pytest tests/test_orders.py', out: '1 passed\n' },
    ],
  },
  {
    id: uuid(904),
    remote: 'https://git.example.test/acme/zhifu.git',
    at: '2026-11-29T13:00:00Z',
    events: [
      { human: '给订单表加一列备注。' },
      { edit: ['db/migrations/0007.sql'] },
      { run: 'make migrate', exit: 2, out: 'make: *** [migrate] Error 2\n' },
      { human: '不要改动已经发布的迁移文件 db/migrations/0007.sql，请新建一个文件。' },
      { edit: ['db/migrations/0008.sql'] },
      { run: 'make migrate', out: 'ok\n' },
    ],
  },
  {
    id: uuid(905),
    remote: 'https://git.example.test/acme/zhifu.git',
    at: '2026-11-29T14:00:00Z',
    events: [
      { human: '支付网关经常没有响应，请处理一下。' },
      { edit: ['pay/client.py'] },
      { run: 'pytest tests/test_pay.py', exit: 1, out: 'TimeoutError: gateway\n' },
      { human: '调用 pay/client.py 时最多重试三次，每次间隔两秒，之后要报警。' },
      { edit: ['pay/client.py'] },
      { run: 'pytest tests/test_pay.py', out: '2 passed\n' },
    ],
  },
];

/** The memory that one night without a model makes of the recorded sessions and those above: paths below `memories/`. */
export async function sampleMemory(): Promise<Files> {
  const dir = mkdtempSync(join(tmpdir(), 'memory-retrieval-'));
  try {
    git(dir, 'init', '--quiet', '--initial-branch=main');
    writeFiles(
      join(dir, 'sessions'),
      Object.fromEntries(written.map((session) => [`rollout-${session.id}.jsonl`, codexText(session)])),
    );
    const sources = [...recordedSources(samples), { agent: 'codex' as const, path: join(dir, 'sessions') }];
    const checkouts = checkoutsFrom(JSON.parse(readFileSync(join(samples, 'checkouts.json'), 'utf8')));
    const redactor = createRedactor({});
    const redact = (text: string) => redactor.redact(text);
    const config = parseConfig(null);
    const repository = await openRepository(dir, { env: gitEnv });
    const { made } = await playNight(
      await loadStart(repository),
      nightPolicy(config, { all: true, now: true, since: 0 }),
      {
        ...createEngine(config, repository, {}, redact),
        repository,
        rollouts: redactedRollouts(openRollouts(sources, { include: [], checkouts, home: '/home/dana' }), redactor),
        clock: fixedClock(parseIsoTime(theNight) ?? 0),
        redact,
        progress: () => undefined,
      },
    );
    return new Map([...made.files].map(([path, text]) => [path.replace(/^memories\//, ''), text]));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
