/** A place in a source. */
export interface SourcePlace {
  /** Path in the project. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
}

/** Line and column of a position in a text. */
export function positionOf(text: string, start: number): Omit<SourcePlace, 'file'> {
  const before = text.slice(0, start)
  return { line: before.split('\n').length, column: start - before.lastIndexOf('\n') }
}

/** As editors and terminals take it: `src/app/routes.ts:12:5`. */
export function placeText({ file, line, column }: SourcePlace): string {
  return `${file}:${line}:${column}`
}
