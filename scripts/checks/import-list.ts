/** One import, export-from or dynamic import of a file. */
export interface ImportStatement {
  /** As written between the quotes. */
  readonly specifier: string
  /** Whether it is removed with the types. */
  readonly typeOnly: boolean
  /** From 1. */
  readonly line: number
}

// The sources are formatted by prettier: a statement starts its line, a comment line starts with `//`, `/*` or `*`.
const STATEMENT = /^(?:import|export)(\s+type)?\b([\w$\s{},*]*?)\bfrom\s*['"]([^'"]+)['"]/gm
const SIDE_EFFECT = /^import\s*['"]([^'"]+)['"]/gm
const DYNAMIC = /(\btypeof\s+)?\bimport\(\s*['"]([^'"]+)['"]/g
const ALL_NAMES_ARE_TYPES = /^\s*\{(?:\s*type\s[^,}]*,?)+\s*\}\s*$/

/**
 * Blanks lines that contain only a comment; line numbers are unchanged.
 * @param text a source file formatted by prettier.
 */
export function withoutCommentLines(text: string): string {
  return text.replace(/^[ \t]*(?:\/\/|\/\*|\*).*$/gm, '')
}

/**
 * Lists the imports of a module, in no particular order.
 * @param text a TypeScript source file formatted by prettier.
 */
export function listImports(text: string): ImportStatement[] {
  const code = withoutCommentLines(text)
  const lineAt = (index: number): number => code.slice(0, index).split('\n').length
  const found: ImportStatement[] = []
  for (const match of code.matchAll(STATEMENT)) {
    const typeOnly = match[1] !== undefined || ALL_NAMES_ARE_TYPES.test(match[2] ?? '')
    found.push({ specifier: match[3] ?? '', typeOnly, line: lineAt(match.index) })
  }
  for (const match of code.matchAll(SIDE_EFFECT)) {
    found.push({ specifier: match[1] ?? '', typeOnly: false, line: lineAt(match.index) })
  }
  for (const match of code.matchAll(DYNAMIC)) {
    found.push({ specifier: match[2] ?? '', typeOnly: match[1] !== undefined, line: lineAt(match.index) })
  }
  return found
}
