/** One navigation of the search for leaks. */
export interface Visit {
  /** Path that the address bar shows in the end. */
  readonly path: string
  /** Text of the heading in the end. */
  readonly heading: string
  /** `back` goes back by one entry; `overtake` clicks a link to `first`, and at once one to `path`. */
  readonly how: 'click' | 'back' | 'overtake'
  /** Path of the link that is overtaken. */
  readonly first?: string
}

type Target = Pick<Visit, 'path' | 'heading'>

const LAB: Target = { path: '/lab', heading: 'Lab' }

const cache = (key: string): Target => ({ path: `/lab/cache/${key}`, heading: `Key ${key}` })
const params = (id: string): Target => ({ path: `/lab/params/${id}`, heading: 'One dynamic segment' })
const files = (path: string): Target => ({ path: `/lab/files/${path}`, heading: 'A catch-all' })

/**
 * Ten navigations of round number `round`: pages that were seen before and pages that never were, layouts that stay and
 * layouts that go, steps back, and a navigation that is overtaken. Two pages in a row always differ.
 */
export function planRound(round: number): readonly Visit[] {
  const known = String((round % 8) + 1)
  const unseen = `unseen-${round}`
  const click = (target: Target): Visit => ({ ...target, how: 'click' })
  return [
    click(cache(known)),
    click(params(known)),
    click(LAB),
    click(cache(unseen)),
    click(files(`a/${known}`)),
    { ...cache(unseen), how: 'back' },
    { ...params(known), how: 'overtake', first: cache(`overtaken-${round}`).path },
    click(cache(`again-${known}`)),
    click(params(unseen)),
    { ...cache(`again-${known}`), how: 'back' },
  ]
}

/** Navigations in a round. */
export const VISITS_PER_ROUND = 10
