/** What an element is made of: strings become text, never markup. */
export type Child = Node | string | null;

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** An element; `true` sets an attribute without a value, `false` leaves it out. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== false) element.setAttribute(name, value === true ? '' : String(value));
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** @throws when the page does not hold it. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no ${id}.`);
  return element;
}

/** Fills an element once, when it is opened for the first time. */
export function whenOpened(details: HTMLDetailsElement, fill: () => void): void {
  const opened = () => {
    if (!details.open || details.dataset.filled === '1') return;
    details.dataset.filled = '1';
    fill();
  };
  details.addEventListener('toggle', opened);
  fillers.set(details, () => {
    details.open = true;
    opened();
  });
}

/** Opens it and fills it at once: `toggle` comes too late for who wants to scroll there. */
export function open(details: HTMLDetailsElement): void {
  const fill = fillers.get(details);
  if (fill === undefined) details.open = true;
  else fill();
}

const fillers = new WeakMap<HTMLDetailsElement, () => void>();

/** A line of Markdown as people read it: what stands between backticks as code, the rest as it is. */
export function inline(text: string): Child[] {
  return text
    .split(/(`[^`\n]{1,400}`)/)
    .map((part) => (/^`.+`$/.test(part) ? el('code', {}, part.slice(1, -1)) : part));
}
