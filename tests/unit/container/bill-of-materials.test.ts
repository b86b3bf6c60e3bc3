import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { billOfMaterials, UnlistedPackageError } from '../../../scripts/container/bill-of-materials.ts'
import { bundledFolders, bundledPackages, packageName } from '../../../scripts/container/bundled-packages.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const component = (name: string, version: string) => ({
  'bom-ref': `${name}@${version}`,
  type: 'library',
  name,
  version,
})

const FROM_NPM = {
  serialNumber: 'urn:uuid:1',
  metadata: { timestamp: '2026', component: component('project', '1.0.0') },
  components: [component('react', '19.0.0'), component('scheduler', '1.0.0'), component('vitest', '5.0.0')],
  dependencies: [{ ref: 'react@19.0.0', dependsOn: ['scheduler@1.0.0', 'vitest@5.0.0'] }],
}

const installed = (name: string, version: string) => ({ name, version, folder: `/nowhere/${name}` })

test('the bill lists what has a folder in the image, what is in its bundles, and the system, and nothing else', () => {
  const bill = billOfMaterials(FROM_NPM, {
    packages: [installed('react', '19.0.0')],
    bundled: [installed('scheduler', '1.0.0')],
    system: [{ from: '/lib/c.so', to: '/lib/c.so', owner: { name: 'libc6', version: '2.36' } }],
    nodeVersion: '26.0.0',
  })
  expect(bill.components.map(({ name }) => name)).toEqual(['react', 'scheduler', 'libc6', 'node'])
  expect(bill.dependencies).toEqual([{ ref: 'react@19.0.0', dependsOn: ['scheduler@1.0.0'] }])
  expect(JSON.stringify(bill)).not.toMatch(/urn:uuid|timestamp/)
})

test('a development dependency in a bundle is listed as one that runs', () => {
  const built = {
    ...component('react', '19.0.0'),
    scope: 'optional',
    properties: [{ name: 'cdx:npm:package:development', value: 'true' }],
  }
  const bill = billOfMaterials(
    { ...FROM_NPM, components: [built] },
    { packages: [], bundled: [installed('react', '19.0.0')], system: [], nodeVersion: '26.0.0' },
  )
  expect(bill.components[0]).toEqual({ ...component('react', '19.0.0'), scope: 'required' })
})

test('a bundled package of another version than npm knows stops the build', () => {
  const parts = { packages: [], bundled: [installed('react', '18.0.0')], system: [], nodeVersion: '26.0.0' }
  expect(() => billOfMaterials(FROM_NPM, parts)).toThrow(UnlistedPackageError)
})

test('what is bundled is read from the source maps, with a package’s own copies of others', async () => {
  await using folder = await makeTempDir('maps')
  const dist = join(folder.path, 'dist')
  const sources = {
    'server/server.js.map': ['../../src/server/main.ts', '../../node_modules/@scope/one/lib/a.js'],
    'maps/client.js.map': ['../../node_modules/two/index.js', '../../node_modules/two/node_modules/three/x/y.js'],
  }
  for (const [name, list] of Object.entries(sources)) {
    await mkdir(join(dist, name, '..'), { recursive: true })
    await writeFile(join(dist, name), JSON.stringify({ sources: list }))
  }
  const folders = ['node_modules/@scope/one', 'node_modules/two', 'node_modules/two/node_modules/three']
  expect(bundledFolders(dist)).toEqual(folders)
  expect(folders.map(packageName)).toEqual(['@scope/one', 'two', 'three'])
  expect(() => bundledPackages(dist, folder.path)).toThrow('node_modules/@scope/one is part of the bundles')
  for (const [index, path] of folders.entries()) {
    await mkdir(join(folder.path, path), { recursive: true })
    await writeFile(join(folder.path, path, 'package.json'), JSON.stringify({ version: `${index}.0.0` }))
  }
  expect(bundledPackages(dist, folder.path).map(({ name, version }) => `${name}@${version}`)).toEqual([
    '@scope/one@0.0.0',
    'two@1.0.0',
    'three@2.0.0',
  ])
})
