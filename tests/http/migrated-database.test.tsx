/** A new version migrates an application's database while the old one still serves visitors. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import request from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { openDatabase } from '../../src/server/stores/open-database.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const NOTES = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)'
const MOODS = `ALTER TABLE notes ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'`

async function noteSite() {
  const folder = await makeTempDir('migrated')
  const path = join(folder.path, 'notes.sqlite')
  const database = openDatabase({ path, migrations: [NOTES] })
  const add = action({
    input: z.object({ text: z.string() }),
    handler: ({ input }) =>
      void database.write(() => database.statement('INSERT INTO notes (text) VALUES (?)').run(input.text)),
  })
  const { app, logs } = tinyApp({
    routes: {
      '/notes': {
        page: page(({ data }: { data: { notes: readonly object[] } }) => <p>{JSON.stringify(data.notes)}</p>),
        loader: moduleOf({
          loader: () => ({
            notes: database
              .statement('SELECT * FROM notes')
              .all()
              .map((row) => ({ ...row })),
          }),
        }),
      },
      '/first': {
        page: page(() => <p>opened</p>),
        loader: moduleOf({
          loader: () => void openDatabase({ path, migrations: [NOTES, MOODS] }).statement('SELECT 1'),
        }),
      },
    } as never,
    actions: { [MODULE]: { add } },
  })
  onTestFinished(async () => {
    database.dispose()
    await folder.remove()
  })
  // Nothing here waits for the two seconds that a write has.
  database.statement('PRAGMA busy_timeout = 0').get()
  const post = (text: string) =>
    request(app)
      .post(`/notes?_action=${actionId(MODULE, 'add')}`)
      .type('form')
      .send({ text })
  const read = async () => (await request(app).get('/notes').expect(200)).text
  return { app, logs, path, post, read }
}

test('what the old version writes meanwhile is refused for now, so that it is sent again, and reads go on', async () => {
  const { path, post, read, logs } = await noteSite()
  await post('before').expect(303)
  const fresh = new DatabaseSync(path)
  fresh.exec(`BEGIN IMMEDIATE; ${MOODS}`)
  const refused = await post('meanwhile').expect(503)
  expect(refused.headers['retry-after']).toBe('2')
  expect(await read()).toContain('before')
  expect(logs.find(({ level }) => level === 50)).toMatchObject({ err: { message: 'database is locked' } })
  fresh.exec('COMMIT')
  fresh.close()
  await post('meanwhile').expect(303)
  expect(await read()).toContain(
    '{&quot;id&quot;:2,&quot;text&quot;:&quot;meanwhile&quot;,&quot;mood&quot;:&quot;calm&quot;}',
  )
})

test('a file that cannot be opened meanwhile is unavailable for now, too', async () => {
  const { app, path, read } = await noteSite()
  await read()
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  await request(app).get('/first').expect(503)
  other.close()
  await request(app).get('/first').expect(200)
})
