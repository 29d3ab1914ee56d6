"""What programs of 2015 to 2019 expect of Python, NumPy and other libraries, and is gone today.

`table` has a row for each old name; `rewriting` changes the user's code, as it is compiled, where
it uses one; `lookup` gives the substitute when that code runs. Nothing is changed in the modules
themselves, so that today's code in the same process sees them as they are.
"""
