/** Words that many addresses share say nothing about which one was meant. */
const COMMON = new Set(['docs', 'doc', 'lab', 'html', 'index', 'md'])
const MOST_WORDS = 6
const LONGEST_WORD = 24
const MOST_MATCHES = 4
const SHORTEST_FOR_TYPOS = 4

/**
 * The addresses that a visitor may have meant: those that share words with the one asked for, one typo a word allowed.
 * Costs little for any path: of a path, six words of 24 characters count, and two words are compared in one pass.
 * @param path of a URL, from a visitor.
 * @param addresses in the order of equally good matches.
 * @returns at most four, the best first.
 */
export function nearMatches(path: string, addresses: readonly string[]): string[] {
  const asked = wordsOf(path.slice(0, MOST_WORDS * (LONGEST_WORD + 1)))
  if (asked.length === 0) return []
  return addresses
    .map((address) => ({ address, score: scoreOf(asked, wordsOf(address)) }))
    .filter(({ score }) => score > 0.4)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_MATCHES)
    .map(({ address }) => address)
}

function wordsOf(path: string): string[] {
  const words = path.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return words.filter((word) => word !== '' && word.length <= LONGEST_WORD && !COMMON.has(word)).slice(0, MOST_WORDS)
}

/** The share of words that have a partner, of both sides. */
function scoreOf(asked: readonly string[], words: readonly string[]): number {
  const best = (word: string): number => Math.max(0, ...words.map((other) => likeness(word, other)))
  const sum = asked.reduce((sum, word) => sum + best(word), 0)
  return (2 * sum) / (asked.length + words.length)
}

function likeness(a: string, b: string): number {
  if (a === b) return 1
  if (Math.min(a.length, b.length) < SHORTEST_FOR_TYPOS) return 0
  if (isOneEditAway(a, b)) return 0.8
  return a.startsWith(b) || b.startsWith(a) ? 0.6 : 0
}

/** Whether one letter was left out, put in, changed or swapped with the next. */
function isOneEditAway(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  if (long.length - short.length > 1) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at += 1
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1)
  const isSwapped = short[at] === long[at + 1] && short[at + 1] === long[at]
  return short.slice(at + 1) === long.slice(at + 1) || (isSwapped && short.slice(at + 2) === long.slice(at + 2))
}
