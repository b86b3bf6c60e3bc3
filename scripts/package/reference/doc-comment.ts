/** What a comment says in front of a declaration. */
export interface DocComment {
  /** Markdown in paragraphs: meaning, units, default. */
  readonly text: string
  /** Meaning by the parameter's name. */
  readonly params: ReadonlyMap<string, string>
  /** Meaning by the type parameter's name. */
  readonly typeParams: ReadonlyMap<string, string>
  readonly returns: string
  /** Each with the names of its errors as code. */
  readonly throws: readonly string[]
  /** Fenced blocks of Markdown. */
  readonly examples: readonly string[]
}

/** Reads a comment of which the stars are cut off. */
export function readDocComment(comment: string): DocComment {
  const [text = '', ...tags] = comment.split(/^(?=@\w)/m)
  const ofTag = (wanted: string): string[] =>
    tags.flatMap((tag) => {
      const [, name, rest = ''] = /^@(\w+)\s*([\s\S]*)$/.exec(tag) ?? []
      return name === wanted ? [rest.trim()] : []
    })
  return {
    text: text.trim(),
    params: named(ofTag('param')),
    typeParams: named(ofTag('typeParam')),
    returns: inLine(ofTag('returns').join(' ')),
    throws: ofTag('throws').map((error) => inLine(error.replaceAll(/\{(\w+)\}/g, '`$1`'))),
    examples: ofTag('example'),
  }
}

function named(tags: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    tags.map((tag) => {
      const [, name = '', meaning = ''] = /^([\w.]+)\s+([\s\S]*)$/.exec(tag) ?? []
      return [name, inLine(meaning)]
    }),
  )
}

function inLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
