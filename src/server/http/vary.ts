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
