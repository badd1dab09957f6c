/** What the operator asked for cannot be done as things stand; the message says why, and what to do. */
export class OperatorError extends Error {}
