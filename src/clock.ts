/** Unix seconds from the machine's clock: the only place that reads it. */
export type Clock = () => number

export const systemClock: Clock = () => Math.floor(Date.now() / 1000)
