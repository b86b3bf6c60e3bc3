import { expect, test } from 'vitest'
import { containerObstacle } from '../../../scripts/container/obstacle.ts'

const all = (program: string): string => `/usr/bin/${program}`

test.for([
  [all, 0, undefined],
  [all, 1000, /as root/],
  [all, undefined, /as root/],
  [
    (program: string) => (program === 'buildah' ? undefined : program),
    0,
    /^missing buildah \(.*apt-get install buildah`/,
  ],
  [() => undefined, 0, /^missing buildah, debootstrap, redis-server /],
] as const)('what keeps the container check from running is said in one line', ([find, user, expected]) => {
  const reason = containerObstacle(find, user)
  if (expected === undefined) return expect(reason).toBeUndefined()
  expect(reason).toMatch(expected)
  expect(reason).not.toContain('\n')
})
