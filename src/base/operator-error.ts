/** A command of the operator that cannot be done now. The message says why, and how to go on. */
export class OperatorError extends Error {}
