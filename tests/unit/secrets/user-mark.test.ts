/** What a browser is told of the user of its session. */
import { expect, test } from 'vitest'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'
import { userMark } from '../../../src/server/secrets/user-mark.ts'

const secrets = createSecrets(['a key of thirty-two characters...'])

test('a user has one mark, another user another, and other keys make others', () => {
  const mark = userMark({ secrets }, 'member ann')
  expect(mark).toMatch(/^[\w-]{10}$/)
  expect(userMark({ secrets }, 'member ann')).toBe(mark)
  expect(userMark({ secrets }, 'member bob')).not.toBe(mark)
  expect(userMark({ secrets }, 'admin ann')).not.toBe(mark)
  expect(userMark({ secrets: createSecrets(['another key of thirty-two chars..']) }, 'member ann')).not.toBe(mark)
})
