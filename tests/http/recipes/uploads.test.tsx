/** The upload of the chapter on actions, attacked. */
import { readFile, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import request from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { upload } from '../../fixtures/recipes/uploads/actions.server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { page, tinyApp } from '../../support/tiny-app.tsx'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const MODULE = 'upload/actions.server.ts'

async function opened() {
  const folder = await makeTempDir('uploads')
  const { app } = tinyApp({
    routes: { '/upload': { page: page(() => <p>Upload</p>) } },
    actions: { [MODULE]: { upload } },
    environment: { DATA_DIR: folder.path },
  })
  onTestFinished(() => folder.remove())
  const stored = (): Promise<string[]> => readdir(join(folder.path, 'uploads'))
  const send = () => request(app).post(`/upload?_action=${actionId(MODULE, 'upload')}.0`)
  return { send, stored }
}

test('the chapter shows it', async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/actions.md'), 'utf8'))
  const start = `// src/app/${MODULE}\n`
  const shown = blocks.find(({ code }) => code.startsWith(start))?.code.slice(start.length)
  expect(`${shown}\n`).toBe(await readFile(join(PROJECT, 'tests/fixtures/recipes/uploads/actions.server.ts'), 'utf8'))
})

test('a file is stored', async () => {
  const { send, stored } = await opened()
  await send().attach('file', Buffer.from('one'), 'a.txt').expect(303)
  expect(await stored()).toHaveLength(1)
})

test('nothing of a refused upload stays: neither the file that is one too many, nor those before it', async () => {
  const { send, stored } = await opened()
  const twice = send().attach('file', Buffer.from('one'), 'a.txt').attach('file', Buffer.from('two'), 'b.txt')
  await twice.expect(413)
  expect(await stored()).toEqual([])
  const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\none\r\n'
  await send().set('Content-Type', 'multipart/form-data; boundary=x').send(part).expect(400)
  expect(await stored()).toEqual([])
})
