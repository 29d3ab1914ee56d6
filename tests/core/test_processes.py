import pytest

from weft.core.processes import Place, place, place_in

STARTED = {
    "alone": ({}, Place()),
    "weft": (
        {"WEFT_RANK": "3", "WEFT_SIZE": "4", "WEFT_LOCAL_RANK": "1", "WEFT_LOCAL_SIZE": "2",
         "WEFT_COORDINATOR": "one:7"},
        Place(3, 4, 1, 2, "one:7"),
    ),
    "horovodrun": (
        {"HOROVOD_RANK": "1", "HOROVOD_SIZE": "2", "HOROVOD_LOCAL_RANK": "0",
         "HOROVOD_LOCAL_SIZE": "1", "HOROVOD_GLOO_RENDEZVOUS_ADDR": "one",
         "HOROVOD_GLOO_RENDEZVOUS_PORT": "1"},
        Place(1, 2, 0, 1, "one:24583"),
    ),
    "mpirun of Open MPI": (
        {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "MASTER_PORT": "9",
         "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
        Place(1, 2, 1, 2, "localhost:9"),
    ),
    "mpirun of MPICH": (
        {"PMI_RANK": "1", "PMI_SIZE": "2", "WEFT_COORDINATOR": "one:7"}, Place(1, 2, 1, 2, "one:7"),
    ),
    "srun": (
        {"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_LOCALID": "0",
         "SLURM_NTASKS_PER_NODE": "1", "MASTER_ADDR": "one", "MASTER_PORT": "9"},
        Place(1, 2, 0, 1, "one:9"),
    ),
    "weft before others": (
        {"WEFT_RANK": "0", "WEFT_SIZE": "1", "PMI_RANK": "1", "PMI_SIZE": "2",
         "WEFT_COORDINATOR": "one:7"},
        Place(0, 1, 0, 1, "one:7"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STARTED)
def test_place(name):
    environment, expected = STARTED[name]
    assert place(environment) == expected


def test_a_place_in_the_environment_is_read_back():
    mine = Place(3, 4, 1, 2, "one:7")
    assert place(mine.environment()) == mine


def test_jobs_on_one_machine_meet_at_ports_of_their_own():
    ports = {
        place({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": job})
        for job in ("one", "two")
    }
    assert len(ports) == 2


def test_a_rank_that_is_no_number():
    with pytest.raises(ValueError, match="WEFT_RANK='first': expected a number"):
        place({"WEFT_RANK": "first", "WEFT_SIZE": "2"})


def test_place_in_a_cluster():
    addresses = ["one:2222", "two:2222", "one:2223", "two:2223"]
    assert place_in(addresses, 3, {}) == Place(3, 4, 1, 2, "one:3222")
    assert place_in(["one:65000"], 0, {}).coordinator == "one:64000"
    assert place_in(addresses, 0, {"WEFT_COORDINATOR": "x:1"}).coordinator == "x:1"


def test_a_rank_that_a_manifest_adds_up():
    assert place({"WEFT_RANK": "1+2", "WEFT_SIZE": "4"}).rank == 3
