/** A server process as far as its secrets go: signs once when told to, by the keys in the folder it is given. */
import { openSecrets } from '../../../src/server/secrets/secrets.ts'

const [, , dataDir = ''] = process.argv
const warn = (): void => {
  throw new Error('The keys could not be kept')
}
const secrets = openSecrets({ secretKeys: [], dataDir }, { warn })

process.stdin.once('data', () => {
  process.stdout.write(`${secrets.sign('test', 'text')}\n`, () => process.stdin.destroy())
})
process.stdout.write('ready\n')
