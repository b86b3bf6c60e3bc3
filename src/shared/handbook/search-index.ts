/**
 * Full-text search over the sections of the handbook. Pure, and small enough to build in a browser: the site's server, its
 * dialog and `millrace docs` use it alike.
 *
 * Each word of a question is a concept: its stem, the words that begin with it, the words that are one typo apart if
 * nothing else matches, and its synonyms, each with a weight. A section's score is BM25 of each field, added up over heading,
 * chapter, prose and code, with one value for each concept, times the square of the share of the question
 * that the section has. A question that is the name of an export finds its section in the reference first, and one that
 * quotes a message its entry.
 */
import type { Section } from './section.ts'
import { quotedLength } from './quoted-message.ts'
import { makeSnippet, type SnippetPart } from './snippet.ts'
import { RELATED } from './synonyms.ts'
import { isOneTypoApart, stemOf, subjectOf, wordsOf } from './words.ts'

/** A section that a search has found. */
export interface SearchHit<Found extends Section = Section> {
  readonly section: Found
  /** A passage of its text with the words that were found. */
  readonly snippet: readonly SnippetPart[]
}

/** An index over sections. */
export interface SearchIndex<Found extends Section = Section> {
  /**
   * Finds sections, best first.
   * @param query what was typed; only its first 12 words count.
   * @param most number of hits.
   */
  search(query: string, most: number): readonly SearchHit<Found>[]
}

const MOST_WORDS = 12 // of a query: each costs a look at all words of the handbook

/** The most that a word can count for in each field. A heading decides, however often a text has the word. */
const FIELD_WEIGHTS = { heading: 1.6, title: 0.6, parent: 0.6, text: 1, code: 0.35 } as const
const SATURATION = 1.4 // k1 of BM25
const LENGTH_SHARE = 0.5 // b of BM25
const USUAL_LENGTH = 150 // words of a section
const ENOUGH = 1.5 // a word that counts for two thirds or more is there
const WHOLE_HEADING = 0.3 // more for a heading of which the question has all words: "Search params", not "A dialog in a search param"

const LEAST_HEADING = 2 // words: one alone says little, as in "Serve it"

const PREFIX_WEIGHT = 0.8
const TYPO_WEIGHT = 0.7
const SYNONYM_WEIGHT = 0.5
const SHORTEST_PREFIX = 2
const SHORTEST_TYPO = 4

/** Stems that stand for one word of the question, each with its weight, at most 1. */
type Concept = ReadonlyMap<string, number>

/** All words of the handbook. */
interface Vocabulary {
  readonly words: readonly string[]
  /** Stems by word: making one takes longer than looking it up. */
  readonly stems: ReadonlyMap<string, string>
  readonly known: ReadonlySet<string>
}

/** What a stem counts for in each section, all fields together, by the section's number. */
type Postings = ReadonlyMap<string, ReadonlyMap<number, number>>

/** Builds the index: some 30 ms for this handbook. */
export function createSearchIndex<Found extends Section>(sections: readonly Found[]): SearchIndex<Found> {
  const stems = new Map<string, string>()
  const postings = new Map<string, Map<number, number>>()
  for (const [number, section] of sections.entries()) {
    // A heading above others answers nothing by itself.
    if (section.text.trim() !== '' || section.code.trim() !== '') addSection(number, section, stems, postings)
  }
  const vocabulary: Vocabulary = { stems, words: [...stems.keys()], known: new Set(stems.values()) }
  const headings = sections.map(({ heading }) => subjectOf(heading).map(stemOf))

  return {
    search(query, most) {
      const subject = subjectOf(query).slice(0, MOST_WORDS)
      const concepts = ownWords(subject.map((word) => conceptOf(word, vocabulary)))
      const scores = scoresOf(concepts, postings, sections.length)
      const isNamed = namesExport(query)
      return (
        sections
          .map((section, number) => {
            const exact = isNamed(section) || quotedLength(query, section)
            const whole = 1 + WHOLE_HEADING * shareOf(headings[number] ?? [], concepts) ** 2
            return { number, exact, score: (scores.get(number) ?? 0) * whole * section.weight }
          })
          // A quoted message may have no word of its entry but those that say nothing: "DESK_PASSWORD: is not set".
          .filter(({ exact, score }) => exact > 0 || score > 0)
          .toSorted((one, other) => other.exact - one.exact || other.score - one.score || one.number - other.number)
          .slice(0, most)
          .flatMap(({ number }) => {
            const section = sections[number]
            return section === undefined
              ? []
              : [{ section, snippet: makeSnippet(section.text, concepts, (word) => stems.get(word) ?? stemOf(word)) }]
          })
      )
    },
  }
}

/** Whether a section describes the export that a question names: 1 or 0. */
function namesExport(query: string): (section: Section) => number {
  const [, name] = /^<?(\w+)(?:\(\)|>|\s*\/>)?$/.exec(query.trim()) ?? []
  return ({ heading, chapter }) => Number(name === heading && chapter.startsWith('reference/'))
}

function addSection(
  number: number,
  section: Section,
  stems: Map<string, string>,
  postings: Map<string, Map<number, number>>,
): void {
  for (const [field, weight] of Object.entries(FIELD_WEIGHTS)) {
    if (field === 'title' && section.id === '') continue // its heading is the title
    const words = wordsOf(section[field as keyof typeof FIELD_WEIGHTS])
    const isLong = field === 'text' || field === 'code'
    const limit = isLong ? SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * words.length) / USUAL_LENGTH) : 0
    for (const [stem, count] of countStems(words, stems)) {
      const counts = postings.get(stem) ?? new Map<number, number>()
      postings.set(stem, counts)
      counts.set(number, (counts.get(number) ?? 0) + weight * (count / (count + limit)))
    }
  }
}

function countStems(words: readonly string[], stems: Map<string, string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) {
    const stem = stems.get(word) ?? stemOf(word)
    stems.set(word, stem)
    counts.set(stem, (counts.get(stem) ?? 0) + 1)
  }
  return counts
}

/** Without what stands for one word and is another of the question: in "sign in session", a session is not the sign-in too. */
function ownWords(concepts: readonly Concept[]): readonly Concept[] {
  const asked = new Set(
    concepts.flatMap((concept) => [...concept].flatMap(([stem, weight]) => (weight === 1 ? [stem] : []))),
  )
  return concepts.map((concept) => new Map([...concept].filter(([stem, weight]) => weight === 1 || !asked.has(stem))))
}

function conceptOf(word: string, { words, stems, known }: Vocabulary): Concept {
  const concept = new Map<string, number>()
  const add = (stem: string, weight: number): void => void concept.set(stem, Math.max(concept.get(stem) ?? 0, weight))
  add(stemOf(word), 1)
  if (word.length >= SHORTEST_PREFIX) {
    for (const other of words) {
      if (other.startsWith(word)) add(stems.get(other) ?? other, PREFIX_WEIGHT * (word.length / other.length) ** 0.5)
    }
  }
  const isKnown = concept.size > 1 || known.has(stemOf(word))
  if (!isKnown && word.length >= SHORTEST_TYPO) {
    for (const other of words) if (isOneTypoApart(word, other)) add(stems.get(other) ?? other, TYPO_WEIGHT)
  }
  const meant = [...concept].filter(([, weight]) => weight >= TYPO_WEIGHT)
  for (const [stem] of meant) for (const related of RELATED.get(stem) ?? []) add(stemOf(related), SYNONYM_WEIGHT)
  return concept
}

function scoresOf(concepts: readonly Concept[], postings: Postings, total: number): ReadonlyMap<number, number> {
  const found = concepts.map((concept) => {
    const best = new Map<number, number>()
    for (const [stem, weight] of concept) {
      for (const [number, count] of postings.get(stem) ?? []) {
        best.set(number, Math.max(best.get(number) ?? 0, weight * count))
      }
    }
    const rarity = Math.log(1 + total / (1 + rangeOf(concept, postings)))
    return { best, rarity }
  })
  const whole = found.reduce((sum, { rarity }) => sum + rarity, 0)
  const scores = new Map<number, number>()
  for (const number of new Set(found.flatMap(({ best }) => [...best.keys()]))) {
    let score = 0
    let share = 0
    for (const { best, rarity } of found) {
      const value = best.get(number) ?? 0
      score += value * rarity
      share += Math.min(1, value * ENOUGH) * rarity
    }
    scores.set(number, score * (share / whole) ** 2)
  }
  return scores
}

/** How many of a heading's words a question has, 0 to 1. */
function shareOf(heading: readonly string[], concepts: readonly Concept[]): number {
  const had = heading.filter((stem) => concepts.some((concept) => concept.get(stem) === 1))
  return had.length / Math.max(LEAST_HEADING, heading.length)
}

/** Number of sections that have the word itself, or else the best that stands for it. */
function rangeOf(concept: Concept, postings: Postings): number {
  const heaviest = Math.max(...[...concept].map(([stem, weight]) => (postings.has(stem) ? weight : 0)))
  const sizes = [...concept].flatMap(([stem, weight]) => (weight === heaviest ? (postings.get(stem)?.size ?? 0) : []))
  return Math.max(0, ...sizes)
}
