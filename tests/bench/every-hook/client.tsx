import * as client from '#client'
import '../smallest-app/client.tsx'

/** The smallest application, with every export of `#client` in use. */
Object.assign(globalThis, { client })
