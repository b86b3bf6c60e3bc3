import * as client from 'millrace'
import '../smallest-app/client.tsx'

/** The smallest application, with every export of `millrace` in use. */
Object.assign(globalThis, { client })
