/** A fault of the application that stops a build. Its message is all that a user needs to see: no stack is printed. */
export class BuildFault extends Error {
  override readonly name = 'BuildFault'
}
