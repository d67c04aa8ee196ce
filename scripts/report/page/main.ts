import { watchSearch } from './search.ts';
import { closeSession, openSession, watchSession } from './session.ts';
import { openLine, showTree } from './tree.ts';
import { showUse } from './use.ts';

showTree();
showUse();
watchSearch();
watchSession();
addEventListener('hashchange', follow);
follow();

/** `#L123` opens a line of the handbook, `#Sk3f7x2ab` a session. */
function follow(): void {
  const [, kind, name = ''] = /^#([LS])([a-z0-9]{1,12})$/.exec(location.hash) ?? [];
  if (kind === 'S') openSession(name);
  if (kind !== 'L') return;
  closeSession();
  const line = openLine(Number(name));
  line?.querySelector('summary')?.focus({ preventScroll: true });
  line?.scrollIntoView({ block: 'center' });
}
