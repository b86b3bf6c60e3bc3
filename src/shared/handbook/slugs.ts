const LONGEST = 60 // characters, cut off between words: a heading may be a message

/**
 * Makes the ids of one chapter's headings: letters and digits of any script with hyphens between, and a number where a
 * heading occurs twice.
 * @returns gives the id of the next heading.
 */
export function createSlugs(): (heading: string) => string {
  const taken = new Set<string>()
  return (heading) => {
    const words = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
    const end = words.length > LONGEST ? words.lastIndexOf('-', LONGEST) : -1
    const base = (end > 0 ? words.slice(0, end) : words) || 'untitled'
    let id = base
    for (let count = 2; taken.has(id); count += 1) id = `${base}-${count}`
    taken.add(id)
    return id
  }
}
