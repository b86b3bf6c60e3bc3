import { bindPublicEnv, boundPublicEnv, parsePublicEnv, PUBLIC_ENV_ID, type PublicEnv } from '../shared/public-env.ts'

/**
 * The variables that the application's `defineEnv` names as `public`, with the values that the server was started with. Works
 * in loaders, actions and components, on the server and in the browser: a plain object, which a message to a worker may
 * contain. Call it inside of functions: while a build evaluates modules, nothing is set.
 * @throws {Error} if no value is set: in a worker, or in an application without such variables.
 * @example
 * ```tsx
 * import { publicEnv } from 'millrace'
 *
 * export const MillMap = () => <img src={`${String(publicEnv()['MAP_URL'])}/mills.png`} alt="All mills" />
 * ```
 */
export function publicEnv(): PublicEnv {
  return (boundPublicEnv() ?? readDocument()) as PublicEnv
}

function readDocument(): object {
  // Visitors' HTML may have any id, but no scripts, and is not in the head.
  const block = globalThis.document?.querySelector(`head>script#${PUBLIC_ENV_ID}`)
  if (!block) {
    throw new Error(
      'publicEnv: no values are set here. Name variables in defineEnv(schema, { public: [...] }), give that to defineApp as ' +
        'env, call publicEnv inside of functions only, and send workers its result by postMessage.',
    )
  }
  const values = parsePublicEnv(block.textContent)
  bindPublicEnv(values)
  return values
}
