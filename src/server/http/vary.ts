/** What can tell visitors apart: not languages, encodings, and the `Origin` of CORS, which many answers name anyway. */
const OF_VISITOR = /^(?:authorization|cookie|host|x-(?!forwarded-p|millrace-|requested-with)[\w-]+|\*)$/

function namesOf(vary: string): readonly string[] {
  return vary.split(',').map((name) => name.trim().toLowerCase())
}

/** Whether a `Vary` names a header, or everything. @param header in lower case. */
export function namesHeader(vary: string, header: string): boolean {
  return namesOf(vary).some((name) => name === '*' || name === header)
}

/** Whether a `Vary` names something that tells visitors apart. */
export function namesVisitor(vary: string): boolean {
  return namesOf(vary).some((name) => OF_VISITOR.test(name))
}

/** In one line: some caches read only one. */
export function joinVary(...lists: readonly string[]): string {
  const [first = '', ...others] = lists.filter((list) => list !== '')
  if (others.length === 0) return first
  const names = new Map<string, string>()
  for (const name of [first, ...others].flatMap((list) => list.split(','))) {
    const lower = name.trim().toLowerCase()
    if (lower !== '' && !names.has(lower)) names.set(lower, name.trim())
  }
  return [...names.values()].join(', ')
}
