import { wordTerm } from './terms.ts';

/** Words of a question → others that a memory may say instead. Programmers' everyday words, each line one meaning. */
const groups: readonly string[] = [
  'package dependency dependencies library requirement',
  'error exception failure fail crash break broke broken bug',
  'wrong incorrect invalid bad',
  'test tests spec suite unittest',
  'credential credentials secret secrets password token key',
  'folder directory',
  'repository repo project codebase',
  'delete deletion remove drop erase rm',
  'retry attempt again repeat',
  'timeout wait delay pause interval sleep backoff',
  'compile compiler tsc typecheck',
  'container docker image dockerfile',
  'shell bash sh terminal console zsh',
  'print show log echo output display',
  'lint linter lints',
  'config configuration setting settings option',
  'money price amount cost cents currency',
  'discount rebate reduction',
  'space blank whitespace',
  'allow allowed permit permitted forbid forbidden never disallow prohibit ban',
  'permission right rights access grant granted',
  'service api backend',
  'refuse deny denied reject rejected block blocked decline',
  'rename name call named',
  'duplicate copy copied copies same twice double',
  'pipeline ci workflow',
  'deploy rollout roll release publish ship',
  'fetch download request retrieve',
  'database db sql table',
  'prefer preference favourite favorite like want wish',
  'refactor refactoring cleanup clean tidy restructure',
  'answer response reply respond',
  'claim tell say report',
  'not instead rather',
  'fix repair correct solve resolve mend',
  'change edit modify alter update diff patch',
  'check verify validate confirm',
  'minimal small little tiny short',
  'big large size huge',
  'function method helper routine',
  'version release',
  'type types typing typed',
  'cause reason because why',
  'start begin initial',
  'complete finish finished done end',
  'entirely completely fully whole full entire',
  'return returns gives yields',
  'standard stdlib builtin default',
  'overwrite overwritten clobber',
  'relevant related',
  'log logs logfile logging',
  'command cli subcommand',
  'suffix extension ending',
  'constructor new factory',
  'offline internet network air-gapped',
  'bibliothek paket pakete abhangigkeit',
  'fehler fehlgeschlagen schlagt scheitert abbruch bricht',
  'trennzeichen trennen semikolon komma',
  'installieren hinzufugen einbinden',
  'speichern ablegen sichern',
  '保存 存储 写入 存放',
  '修改 改动 更改 变更',
  '上线 发布 部署',
  '超时 响应',
  '错误 失败 报错',
];

/** Other terms of the same meaning. */
export function synonymsOf(term: string): readonly string[] {
  return others.get(term) ?? [];
}

const others: ReadonlyMap<string, readonly string[]> = (() => {
  const found = new Map<string, Set<string>>();
  for (const group of groups) {
    const terms = [...new Set(group.split(' ').map(wordTerm))];
    for (const term of terms) {
      const set = found.get(term) ?? new Set();
      for (const other of terms) if (other !== term) set.add(other);
      found.set(term, set);
    }
  }
  return new Map([...found].map(([term, set]) => [term, [...set]]));
})();
