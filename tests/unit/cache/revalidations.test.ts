import { array, assert, constantFrom, integer, oneof, property, record, constant, subarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesTarget } from '../../../src/client/core/route-cache.ts'
import { normalTarget, targetsOver } from '../../../src/server/cache/revalidation-targets.ts'
import { createRevalidations } from '../../../src/server/cache/revalidations.ts'

const segment = constantFrom('lab', 'labour', 'a', '%2A', 'x.y', 'é', '%C3%A9', '%c3%a9', '%E9', 'a b', '')
const pathname = array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
const target = oneof(
  constantFrom('mills', 'mill:1', 'mill:2'),
  pathname,
  pathname.map((path) => (path === '/' ? '/*' : `${path}/*`)),
)

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

test('so many targets at once that they are not remembered drop everything', () => {
  const revalidations = createRevalidations(2)
  const before = revalidations.now
  revalidations.add(['a', 'b', 'c'])
  expect(revalidations.concern({ tags: ['d'], since: before }, '/')).toBe(true)
  expect(revalidations.concern({ tags: ['a'], since: revalidations.now }, '/')).toBe(false)
})
