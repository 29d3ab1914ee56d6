from tests.runtime.test_partitioned import *
@settings(max_examples=20, deadline=None, suppress_health_check=quiet)
@given(st.lists(programs(), min_size=1, max_size=2), fed_values, splits)
def test_x(parts, fed, split):
    check(parts, fed, *split)
