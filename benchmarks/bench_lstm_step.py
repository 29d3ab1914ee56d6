"""How long does an LSTM training step take: 256 units, 32 steps, batch of 32, `dynamic_rnn`?"""

import recurrent
from common import arguments, load


def main() -> None:
    impl = arguments(__doc__)
    recurrent.run(load(impl), impl, "lstm_step", with_lengths=False)


if __name__ == "__main__":
    main()
