/**
 * Filters of plugins. esbuild tests them itself, and asks a plugin only about what they match: each question takes it a tenth of
 * a millisecond, and the packages of a product have ten thousand files and imports.
 */

/** Matches a text as it is, as a part of a filter. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}

/** Matches absolute paths of scripts that are in no `node_modules`. esbuild's filters have no way to say "not". */
export const OWN_SCRIPT = new RegExp(
  `^[^/\\\\]*(?:[/\\\\]${otherThan('node_modules')})*[/\\\\][^/\\\\]*\\.[cm]?[jt]sx?$`,
)

/** Matches a part of a path that is not this name. */
function otherThan(name: string): string {
  const part = '[^/\\\\]'
  // From the end: after all its letters, one more; before that, another letter, or nothing.
  return [...name].reduceRight((rest, letter) => `(?:[^/\\\\${letter}]${part}*|${letter}${rest})?`, `${part}+`)
}
