import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exported, hello, temporaryFolder } from '../support/exported-site.tsx'
import { moduleOf } from '../support/tiny-app.tsx'

describe('the folder', () => {
  const site = { routes: { '/': { page: hello } } }
  const MARKER = '.millrace-export.json'

  test('is left alone if it holds other files, but for those of hosts and desktops', async () => {
    const { folder, names, read } = await temporaryFolder()
    await exported(folder, site)
    await writeFile(join(folder, 'CNAME'), 'mills.example')
    await writeFile(join(folder, '_m/.DS_Store'), '')
    await exported(folder, site)
    expect(await read('CNAME')).toBe('mills.example')
    await mkdir(join(folder, 'photos'))
    await writeFile(join(folder, 'photos/mine.jpg'), 'mine')
    await expect(exported(folder, site)).rejects.toThrow(/holds photos\/mine\.jpg/)
    expect(await names()).toEqual(expect.arrayContaining(['photos/mine.jpg', '_m/.DS_Store']))
  })

  test.for([
    ...['../x', '..', '.', '', '/x', 'a//b', 'a/./b', 'a/../../x', 'a/', '..\\x', 7, null].map((name) =>
      JSON.stringify({ files: [name] }),
    ),
    'null',
    '{',
    '{}',
    '[]',
    '{"files":"x"}',
    '',
  ])('is left alone if what lists its files is damaged: %s', async (marker) => {
    const { folder, names } = await temporaryFolder()
    await mkdir(folder)
    await writeFile(join(folder, '../x'), 'precious')
    await writeFile(join(folder, MARKER), marker)
    await expect(exported(folder, site)).rejects.toMatchObject({ name: 'FolderFault' })
    expect(await names()).toEqual([MARKER])
    expect(await readFile(join(folder, '../x'), 'utf8')).toBe('precious')
  })

  test('loses no file through a symbolic link', async () => {
    const { folder, names, read } = await temporaryFolder()
    await mkdir(join(folder, '../elsewhere'), { recursive: true })
    await mkdir(folder)
    await writeFile(join(folder, '../elsewhere/mine'), 'mine')
    await symlink('../elsewhere', join(folder, 'link'))
    await writeFile(join(folder, MARKER), JSON.stringify({ files: ['link/mine', 'link'] }))
    await exported(folder, site)
    expect(await names()).toContain('index.html')
    await expect(read('link/mine')).rejects.toThrow('ENOENT')
    expect(await read('../elsewhere/mine')).toBe('mine')
  })

  test('keeps what has been put there meanwhile, and two exports at one time share nothing', async () => {
    const { folder, names, read } = await temporaryFolder()
    const old = { routes: { ...site.routes, '/old': { page: hello } } }
    await exported(folder, old)
    const putting = async () => writeFile(join(folder, 'old/mine.jpg'), 'mine')
    const withLoader = { routes: { '/': { page: hello, loader: moduleOf({ loader: putting }) } } }
    await expect(exported(folder, withLoader)).rejects.toThrow(/holds old\/mine\.jpg/)
    expect(await names()).toEqual(expect.arrayContaining(['old/index.html', 'old/mine.jpg']))
    await rm(join(folder, 'old/mine.jpg'))
    await Promise.all([exported(folder, site), exported(folder, site)])
    expect(JSON.parse(await read(MARKER))).toEqual({ files: (await names()).filter((name) => name !== MARKER) })
    expect(await readdir(folder)).not.toContain('old')
  })
})
