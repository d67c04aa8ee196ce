/** A pure function that keeps what it said of the last value: for one that is asked for the same again and again. */
export function lastOf<V, T>(work: (value: V) => T): (value: V) => T {
  let last: { readonly value: V; readonly answer: T } | null = null;
  return (value) => {
    if (last?.value !== value) last = { value, answer: work(value) };
    return last.answer;
  };
}
