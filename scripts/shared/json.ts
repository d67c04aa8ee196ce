/** The value of a text from outside; undefined for one that is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The fields of an object; none for anything else. */
export function jsonFields(text: string): Readonly<Record<string, unknown>> {
  const value = parsedJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
