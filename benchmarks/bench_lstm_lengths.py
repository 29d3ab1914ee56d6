"""How long does a training step of an LSTM take whose sequences differ in length?"""

import recurrent
from common import arguments, load


def main() -> None:
    impl = arguments(__doc__)
    recurrent.run(load(impl), impl, "lstm_lengths", with_lengths=True)


if __name__ == "__main__":
    main()
