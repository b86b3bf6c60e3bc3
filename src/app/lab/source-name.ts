/**
 * The name of an experiment's source: what follows `/lab/source/`.
 * @param pattern of its route, with or without a query behind it.
 */
export function sourceName(pattern: string): string {
  return pattern.replace(/^\/lab\//, '').replaceAll(/\?.*|[[\]]|\.{3}/g, '')
}
