import { array, assert, constantFrom, integer, oneof, property, record, constant, subarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesTarget } from '../../../src/client/core/data/route-cache.ts'
import { namedTargets, normalTarget, targetsOver } from '../../../src/server/stores/cache/revalidation-targets.ts'
import { createRevalidations } from '../../../src/server/stores/cache/revalidations.ts'

const LONG = 'x'.repeat(101)
const LONG_ENCODED = '%C3%A9'.repeat(20)
const segment = oneof(
  constantFrom('lab', 'labour', 'a', '%2A', 'x.y', 'é', '%C3%A9', '%c3%a9', '%E9', 'a b', ''),
  constantFrom(LONG, `${LONG}y`, LONG_ENCODED, 'é'.repeat(20), '%E9'.repeat(40)),
)
const pathname = array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
const target = oneof(
  constantFrom('mills', 'mill:1', 'mill:2', `mill:${LONG}`),
  pathname,
  pathname.map((path) => (path === '/' ? '/*' : `${path}/*`)),
)

describe('a name that a visitor has chosen', () => {
  test.for([
    ['a tag', 'a'.repeat(900_000)],
    ['a path', `/mills/${'a'.repeat(8_000)}`],
    ['a path of encoded characters', `/mills/${'ä'.repeat(8_000)}/*`],
    ['a path of many segments', `/mills/${`${'a'.repeat(99)}/`.repeat(80)}`],
    ['a path of the most segments', `/${'a/'.repeat(4_000)}`],
  ] as const)('takes little room, and is the same in all forms: %s', ([, name]) => {
    const kept = normalTarget(name)
    expect(kept.length).toBeGreaterThan(1)
    expect(kept.length).toBeLessThan(32 * 101 + 3)
    expect(normalTarget(kept)).toBe(kept)
    const bare = name.replace(/[*]$/, '')
    if (name.startsWith('/')) expect(targetsOver(bare)).toContain(kept)
  })

  test('names nothing if it is longer than any URL', () => {
    for (const longer of ['a/'.repeat(450_000), 'a'.repeat(9_000), `${'a/'.repeat(4_100)}*`]) {
      expect(namedTargets([`/${longer}`, '/mills', '/mills/'])).toEqual(['/mills'])
    }
  })

  test('names nothing else of the same length', () => {
    for (const start of ['', '/mills/']) {
      const names = Array.from({ length: 1_000 }, (_, at) => `${start}${'a'.repeat(200)}${String(at).padStart(4, '0')}`)
      expect(namedTargets(names)).toHaveLength(1_000)
    }
  })
})

describe('a path', () => {
  test('falls under the same targets as in the browser', () => {
    assert(
      property(pathname, target, (path, one) => {
        const inBrowser = matchesTarget({ path, tags: [] }, [one])
        expect(targetsOver(path).includes(normalTarget(one))).toBe(inBrowser)
      }),
    )
  })

  test('of thousands of segments costs no more than one of some, and is dropped all the same', () => {
    const deep = '/x'.repeat(4_000)
    expect(targetsOver(deep).length).toBeLessThan(40)
    const revalidations = createRevalidations()
    revalidations.add([`${deep}/*`])
    expect(revalidations.concern({ tags: [], since: 0 }, deep)).toBe(true)
    expect(revalidations.concern({ tags: [], since: 0 }, '/y')).toBe(false)
  })
})

test('what was begun before it was revalidated is gone, what was begun after that is not', () => {
  const step = oneof(
    record({ kind: constant('begin' as const), tags: subarray(['mills', 'mill:1', 'mill:2']), path: pathname }),
    record({ kind: constant('revalidate' as const), targets: array(target, { minLength: 1, maxLength: 3 }) }),
  )
  assert(
    property(array(step, { maxLength: 30 }), integer({ min: 1, max: 100 }), (steps, bound) => {
      const revalidations = createRevalidations(bound)
      const begun: { tags: string[]; path: string; since: number; gone: boolean }[] = []
      const seen = new Set<string>()
      for (const one of steps) {
        if (one.kind === 'begin') {
          begun.push({ tags: one.tags, path: one.path, since: revalidations.now, gone: false })
        } else {
          for (const each of one.targets) seen.add(each)
          revalidations.add(one.targets)
          for (const each of begun) each.gone ||= matchesTarget(each, one.targets)
        }
        for (const { gone, ...each } of begun) {
          // Beyond the bound more may be gone, and never less.
          const isGone = revalidations.concern(each, each.path)
          expect(isGone && !gone && seen.size <= bound).toBe(false)
          expect(gone && !isGone).toBe(false)
        }
      }
    }),
  )
})

test('the root page, alone and with all below it, stays dropped when the two are joined', () => {
  const revalidations = createRevalidations(1)
  revalidations.add(['/'])
  revalidations.add(['/*'])
  expect(revalidations.concern({ tags: [], since: 0 }, '/')).toBe(true)
})

test('so many targets at once that they are not remembered drop everything', () => {
  const revalidations = createRevalidations(2)
  const before = revalidations.now
  revalidations.add(['a', 'b', 'c'])
  expect(revalidations.concern({ tags: ['d'], since: before }, '/')).toBe(true)
  expect(revalidations.concern({ tags: ['a'], since: revalidations.now }, '/')).toBe(false)
})

describe('more targets than are remembered', () => {
  /** A cache of what it was given. */
  function cacheOf(revalidations: ReturnType<typeof createRevalidations>) {
    const kept = new Map<string, { readonly tags: readonly string[]; readonly since: number; settled?: number }>()
    revalidations.onSettle((isDropped, settled) => {
      for (const [name, entry] of kept) {
        if (isDropped(entry)) kept.delete(name)
        else entry.settled = settled
      }
    })
    const keep = (name: string, ...tags: string[]) => void kept.set(name, { tags, since: revalidations.now })
    const has = (name: string, path = '/') => {
      const entry = kept.get(name)
      return entry !== undefined && !revalidations.concern(entry, path)
    }
    return { keep, has }
  }

  test('drop what has their tags, and nothing else that is kept', () => {
    const revalidations = createRevalidations(100)
    const { keep, has } = cacheOf(revalidations)
    keep('news', 'news')
    keep('plain')
    keep('hit', 'visitor:7')
    for (let at = 0; at < 1_000; at += 1) revalidations.add([`visitor:${at}`])
    expect([has('news'), has('plain'), has('hit')]).toEqual([true, true, false])
    revalidations.add(['news'])
    expect([has('news'), has('plain')]).toEqual([false, true])
  })

  test('drop the pages beside theirs, and none of another folder', () => {
    const revalidations = createRevalidations(100)
    const { keep, has } = cacheOf(revalidations)
    keep('value')
    for (let at = 0; at < 1_000; at += 1) revalidations.add([`/notes/${at}`])
    expect([has('value', '/notes/7'), has('value', '/'), has('value', '/news')]).toEqual([false, true, true])
    revalidations.add(['/news'])
    expect([has('value', '/'), has('value', '/news')]).toEqual([true, false])
    for (let at = 0; at < 1_000; at += 1) revalidations.add([`/shop/${at}/reviews/*`])
    expect([has('value', '/shop/7/reviews/1'), has('value', '/'), has('value', '/forum')]).toEqual([false, true, true])
  })

  test('cost little each', () => {
    const revalidations = createRevalidations()
    const { keep } = cacheOf(revalidations)
    for (let at = 0; at < 10_000; at += 1) keep(String(at), 'news', `n:${at}`)
    const startedAt = performance.now()
    for (let at = 0; at < 50_000; at += 1) revalidations.add([`visitor:${at}`, `/notes/${at}`])
    // No two of them have a folder in common.
    for (let at = 0; at < 50_000; at += 1) revalidations.add([`/${at}/a/b/c/d/e/f/g`])
    // A hang check: a look at all of them for each one that is put together took minutes.
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})
