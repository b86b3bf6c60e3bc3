import fc from 'fast-check'
import { expect, test } from 'vitest'
import { argumentsPurpose } from '../../../src/server/routes/render/bound-arguments.ts'
import { ApplicationSecrets } from '../../../src/server/secrets/application-secrets.ts'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'

const runtime = createSecrets(['a key for these tests, long enough'])
const application = new ApplicationSecrets(runtime)
const PURPOSES = [
  argumentsPurpose('0123456789ab'),
  'cookie __Host-session',
  'runtime x',
  'application action x',
  '/shop cookie x',
]

test.for(PURPOSES)('the key of “%s” is the runtime’s own', async (purpose) => {
  expect(runtime.verify(purpose, application.sign(purpose, 'text'))).toBeUndefined()
  expect(application.verify(purpose, runtime.sign(purpose, 'text'))).toBeUndefined()
  expect(await runtime.decrypt(purpose, await application.encrypt(purpose, 'text', 60))).toBeUndefined()
  expect(await application.decrypt(purpose, await runtime.encrypt(purpose, 'text', 60))).toBeUndefined()
})

test('an application reads what it has written, for each purpose alone, and what it wrote before', async () => {
  const purpose = fc.oneof(
    fc.string(),
    fc.constantFrom(...PURPOSES),
    fc.string().map((text) => `action ${text}`),
  )
  await fc.assert(
    fc.asyncProperty(purpose, purpose, async (one, other) => {
      const signed = application.sign(one, 'text')
      expect(application.verify(one, signed)).toBe('text')
      expect(application.verify(other, signed)).toBe(one === other ? 'text' : undefined)
      expect(await application.decrypt(one, await application.encrypt(one, 'text', 60))).toBe('text')
    }),
    { numRuns: 50 },
  )
  expect(application.verify('reset a password', runtime.sign('reset a password', 'ann'))).toBe('ann')
})
