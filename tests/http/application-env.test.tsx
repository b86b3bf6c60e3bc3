import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createApp, defineApp, defineEnv } from 'millrace/server'
import type { StandardSchema } from '../../src/shared/schema.ts'
import { PlainDocument } from '../../src/testing/plain-document.ts'
import { moduleOf, page } from '../support/tiny-app.tsx'

const declared = () => defineEnv(z.object({ SMTP_URL: z.url(), MOST_GUESTS: z.coerce.number().int().default(5) }))

function application(env: ReturnType<typeof declared>) {
  return defineApp({
    env,
    document: PlainDocument,
    routes: {
      '/': {
        page: page(({ data }: { data: string }) => <p>{data}</p>),
        loader: moduleOf({ loader: () => `${env.SMTP_URL} for ${env.MOST_GUESTS + 1}` }),
      },
    } as never,
  })
}

describe('the environment of an application', () => {
  test('is read typed, from the environment that the server was given', async () => {
    const app = createApp({
      app: application(declared()),
      env: { SMTP_URL: 'smtp://mail', MOST_GUESTS: '7', LOG_LEVEL: 'silent' },
    })
    await app.start()
    expect((await request(app).get('/')).text).toContain('smtp://mail for 8')
    expect(await app.stop()).toBe(true)
  })

  test('is not read while the application is evaluated', () => {
    const env = defineEnv(z.object({ MISSING_IN_EVERY_ENVIRONMENT: z.string() }))
    expect(() => defineApp({ env, document: PlainDocument, routes: {} })).not.toThrow()
    expect(() => env.MISSING_IN_EVERY_ENVIRONMENT).toThrow('MISSING_IN_EVERY_ENVIRONMENT: is not set')
  })

  test('names every variable that does not fit in one line, and shows no value', () => {
    const env = { SMTP_URL: 'secret-that-is-no-url', MOST_GUESTS: 'secret' }
    const make = () => createApp({ app: application(declared()), env })
    expect(make).toThrow(/^SMTP_URL: [^\n]*; MOST_GUESTS: [^\n]*$/)
    expect(make).not.toThrow(/secret/)
  })

  test.for([String, JSON.stringify])('shows no value where the library of the schema repeats it', (said) => {
    const repeating: StandardSchema<object> = {
      '~standard': {
        version: 1,
        vendor: 'tests',
        validate: (given) => {
          const { API_KEY = '' } = given as Record<string, string>
          return { issues: [{ path: ['API_KEY'], message: `Expected a URL but received ${said(API_KEY)}` }] }
        },
      },
    }
    const env = { API_KEY: 'it\'s "secret"' }
    expect(() => createApp({ app: application(defineEnv(repeating) as never), env })).toThrow(
      /^API_KEY: Expected a URL but received …$/,
    )
  })

  test('takes an empty variable as unset', () => {
    expect(() => createApp({ app: application(declared()), env: { SMTP_URL: '' } })).toThrow('SMTP_URL: is not set')
  })

  test('refuses a schema that is asynchronous', () => {
    const env = defineEnv(z.object({ PATH: z.string() }).refine(() => Promise.resolve(true)))
    expect(() => env.PATH).toThrow('must not be asynchronous')
  })

  test('is what it is: nothing can be added, and its names can be listed', () => {
    const env = declared()
    createApp({ app: application(env), env: { SMTP_URL: 'smtp://mail', LOG_LEVEL: 'silent' } })
    expect({ ...env }).toEqual({ SMTP_URL: 'smtp://mail', MOST_GUESTS: 5 })
    expect(Reflect.set(env, 'SMTP_URL', 'other')).toBe(false)
  })
})
