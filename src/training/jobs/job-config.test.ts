import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { rlConfigOf, StoredRlConfig, sftConfigOf, storedSftConfig } from './job-config.ts'
import { ExperimentalConfig, SftJobCreateReq } from './wire.ts'

describe('settings of an RL job', () => {
  it('are taken as newer clients name them', () => {
    const given = ExperimentalConfig.parse({
      loss_fn: 'ppo',
      kl_penalty_source: 'sample',
      kl_penalty_step_lag: 2,
      num_trajectories_learning_rate_multiplier_power: 0.5,
      logprob_calculation_chunk_size: 1024,
      plot_tensors: false,
      scale_learning_rate_by_reward_std_dev: false,
      kl_ref_adapter_path: null,
    })
    expect(rlConfigOf(given)).toMatchObject({
      kl_penalty_step_lag: 2,
      worker: {
        ppo: true,
        kl_penalty_source: 'sample',
        num_trajectories_learning_rate_multiplier_power: 0.5,
      },
    })
  })

  it.each([
    [{ plot_tensors: true }, 'plot_tensors'],
    [{ scale_learning_rate_by_reward_std_dev: true }, 'scale_learning_rate_by_reward_std_dev'],
    [{ kl_ref_adapter_path: '/adapter' }, 'kl_ref_adapter_path'],
    [{ loss_fn: 'ppo', ppo: false }, 'loss_fn'],
    [{ packed_sequence_length: 4096, gradient_steps: 1 }, 'gradient_steps'],
    [{ gradient_steps: 0 }, 'gradient_steps'],
    [{ kl_penalty_step_lag: 1, kl_penalty_reference_step: 1 }, 'kl_penalty_step_lag'],
    [{ learning_rate: 1e38 }, 'learning_rate'],
    [{ epsilon: 1e38 }, 'epsilon'],
    [{ epsilon_high: 1e38 }, 'epsilon_high'],
    [
      { max_negative_advantage_importance_sampling_weight: 1e38 },
      'max_negative_advantage_importance_sampling_weight',
    ],
    [{ kimi_k2_tau: -1e38 }, 'kimi_k2_tau'],
    [{ x_k2_tau: 1e38 }, 'x_k2_tau'],
    [{ truncated_importance_sampling: 1e38 }, 'truncated_importance_sampling'],
    [{ kl_penalty_coef: 1e38 }, 'kl_penalty_coef'],
  ])('are refused by name: %j', (given, name) => {
    expect(ExperimentalConfig.safeParse(given).error?.issues[0]?.path).toEqual([name])
  })

  it('that were stored before a setting was known have its default', () => {
    const {
      kl_penalty_source,
      num_trajectories_learning_rate_multiplier_power,
      require_sampled_context,
      gradient_steps,
      ...earlier
    } = rlConfigOf({}).worker
    expect(StoredRlConfig.parse({ worker: earlier, kl_penalty_reference_step: null })).toEqual(rlConfigOf({}))
  })
})

describe('require_sampled_context', () => {
  it.each([
    [undefined, false, false],
    [undefined, true, true],
    [null, true, true],
    [false, true, false],
    [true, false, true],
  ])('of a job that says %s and a server that says %s is %s', (given, requireSampledContext, expected) => {
    const { worker } = rlConfigOf({ require_sampled_context: given }, { requireSampledContext })
    expect(worker.require_sampled_context).toBe(expected)
  })
})

describe('settings of an SFT job', () => {
  it.each([
    [1e38, []],
    [[1e-3, 1e38], [1]],
  ])('name a learning rate that is too large: %j', (learning_rate, place) => {
    const given = { model_id: randomUUID(), training_data_url: 'file', config: { learning_rate } }
    expect(SftJobCreateReq.safeParse(given).error?.issues[0]?.path).toEqual([
      'config',
      'learning_rate',
      ...place,
    ])
  })

  it('select the turns that are trained on and whether the run gets the metrics', () => {
    const given = {
      assistant_turns: 'last',
      metric_logging: { enabled: true, target_training_step: 3 },
    } as const
    expect(sftConfigOf(given)).toMatchObject({
      worker: { assistant_turns: 'last' },
      metric_logging: { target_training_step: 3 },
    })
    expect(sftConfigOf({ metric_logging: { enabled: false } }).metric_logging).toBeNull()
  })

  it('that were stored before are read', () => {
    const stored = storedSftConfig('{"batch_size":2,"learning_rate":0.1}')
    expect(stored).toEqual({
      worker: { batch_size: 2, learning_rate: 0.1, assistant_turns: 'all' },
      metric_logging: null,
    })
  })
})
