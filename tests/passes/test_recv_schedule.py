"""Receives held back until their tensors are needed."""

from benchmarks.recv_schedule import peaks


def test_the_peak_of_a_fan_in_falls_as_predicted():
    predicted, seen, result = peaks(scheduled=False)
    held_predicted, held_seen, held_result = peaks(scheduled=True)
    assert abs(result - held_result) <= 1e-5 * abs(result)
    # Eight tensors that lie about become two: the one in use and the one on its way.
    assert round(predicted, 2) == round(seen, 2) == 10
    assert round(held_predicted, 2) == round(held_seen, 2) == 3
