/**
 * The application's table, for the compiler. Augment it once, beside the table:
 *
 *     declare module 'millrace' {
 *       interface Register { routes: typeof routes }
 *     }
 *
 * `env` beside it, of the type of what `defineEnv` gives, types `publicEnv()`.
 *
 * From then on a pattern that is not in the table does not compile, and neither does a link to a path that no pattern
 * matches. Without it every pattern and path is a `string`.
 */
// An interface, because only interfaces can be augmented.
// oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-empty-interface
export interface Register {}
