import { createPoster, editPoster } from '../../src/posters/manage.ts'
import { take } from '../../src/posters/take.ts'
import { people } from './machine.ts'
import {
  askedOf,
  callerOf,
  keyOf,
  keys,
  type Maker,
  owners,
  pick,
  repeatOf,
  someDefinition,
} from './steps.ts'

export const posterMakers: Record<string, Maker> = {
  poster({ machine: { coupons, posters: model } }, [a, b, c]) {
    const poster = c % 3 ? undefined : model.posters.at(-1 - (a % 3))
    const definition = poster?.definition ?? someDefinition(coupons, a)
    if (!definition) return null
    const owner = b % 8 ? definition.owner : pick(owners, a)
    const { caller, signature } = callerOf(owner, b)
    if (poster) {
      const paused = c % 2 === 0
      const asked = askedOf('', null, null, signature)
      return {
        words: `a poster ${paused ? 'pauses' : 'goes on'}`,
        run: ({ posters }) => editPoster(posters, caller, poster.id, { paused }),
        judge: (outcome) => model.change(asked, { poster, owner, paused }, outcome),
      }
    }
    const [perPerson, perDay, total] = [pick([1, 2, 50], a), pick([null, 2], b), pick([null, 3], c)]
    const limits = { perPerson, perDay, total }
    const fields = { ...limits, couponId: definition.id }
    const asked = askedOf(`poster ${owner}`, fields, keyOf(c), signature)
    return {
      words: `hang a poster ${JSON.stringify(limits)}`,
      run: ({ posters }) => createPoster(posters, caller, fields, repeatOf(asked)),
      judge: (outcome) => model.hang(asked, { definition, owner, limits }, outcome),
    }
  },

  take({ machine: { posters: model } }, [a, b, c]) {
    if (model.posters.length === 0) return null
    const poster = pick(model.posters.slice(-4), a)
    const { pubkey } = pick(people, c)
    const { caller, signature } = callerOf(pubkey, b)
    const asked = askedOf('', null, null, signature)
    const key = pick(keys, a + b)
    return {
      words: `take from a poster, ${key}`,
      run: ({ posters }) => take(posters, caller, { id: poster.id, key, address: 'somewhere' }),
      judge: (outcome, at) => model.take(asked, { poster, taker: pubkey, key }, outcome, at),
    }
  },
}
