/** A piece of a passage; `marked` where it is a word that was searched for. */
export interface SnippetPart {
  readonly text: string
  readonly marked: boolean
}

const LONGEST = 170 // characters: two to three lines beside the chapters, four on a small screen

/**
 * Cuts the passage out of a text that has most of the words.
 * @param concepts what counts as found: stems, of which each map stands for one word of the question.
 * @param stemOf stem of a word in lower case.
 */
export function makeSnippet(
  text: string,
  concepts: readonly ReadonlyMap<string, number>[],
  stemOf: (word: string) => string,
): readonly SnippetPart[] {
  const places = placesOf(text, concepts, stemOf)
  const start = bestStart(text, places)
  const end = Math.min(text.length, endOf(text, start))
  const parts: SnippetPart[] = []
  let at = start
  for (const { from, to } of places.filter(({ from, to }) => from >= start && to <= end)) {
    if (from > at) parts.push({ text: text.slice(at, from), marked: false })
    parts.push({ text: text.slice(from, to), marked: true })
    at = to
  }
  if (at < end) parts.push({ text: text.slice(at, end), marked: false })
  const first = start > 0 ? [{ text: '… ', marked: false }] : []
  const last = end < text.length ? [{ text: ' …', marked: false }] : []
  return [...first, ...parts, ...last]
}

/** A found word in the text. */
interface Place {
  readonly from: number
  readonly to: number
  readonly concept: number
  readonly weight: number
}

function placesOf(
  text: string,
  concepts: readonly ReadonlyMap<string, number>[],
  stemOf: (word: string) => string,
): readonly Place[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].flatMap(({ 0: word, index }) => {
    const stem = stemOf(word.toLowerCase())
    const weights = concepts.map((concept) => concept.get(stem) ?? 0)
    const weight = Math.max(0, ...weights)
    return weight === 0 ? [] : [{ from: index, to: index + word.length, concept: weights.indexOf(weight), weight }]
  })
}

function bestStart(text: string, places: readonly Place[]): number {
  let best = { start: 0, value: 0 }
  for (const { from } of places) {
    const start = sentenceStart(text, from)
    const inside = places.filter((place) => place.from >= start && place.to <= start + LONGEST)
    const byConcept = new Map<number, number>()
    for (const { concept, weight } of inside) byConcept.set(concept, Math.max(byConcept.get(concept) ?? 0, weight))
    const value = [...byConcept.values()].reduce((sum, weight) => sum + weight, 0) + inside.length * 0.01
    if (value > best.value) best = { start, value }
  }
  return best.start
}

/** The beginning of the sentence around a place, or of a word a little before it where the sentence is long. */
function sentenceStart(text: string, at: number): number {
  const before = text.slice(0, at)
  const stop = Math.max(before.lastIndexOf('. '), before.lastIndexOf(': '), before.lastIndexOf('? '))
  if (stop >= 0 && at - stop < LONGEST / 2) return stop + 2
  if (at < LONGEST / 2) return 0
  return before.lastIndexOf(' ', at - LONGEST / 4) + 1
}

function endOf(text: string, start: number): number {
  if (text.length - start <= LONGEST) return text.length
  const end = text.lastIndexOf(' ', start + LONGEST)
  return end > start ? end : start + LONGEST
}
